package io.vgpu.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.config.AgentConfig;
import io.vgpu.agent.deviceplugin.ResponseFilter;
import io.vgpu.agent.testing.Built;
import java.io.IOException;
import java.net.ConnectException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The monitor as it runs, on the fake driver: from start to metrics to end. */
class AgentTest {
  @TempDir Path dir;

  private AgentConfig config(int port) {
    return ConfigReader.read(flags(port), new PluginFlags(), new MonitorFlags());
  }

  private CommonFlags flags(int port) {
    CommonFlags common = new CommonFlags();
    common.nodeName = "n1";
    common.containerDriverRoot = dir;
    common.sysfsRoot = dir.resolve("no-sysfs");
    common.opsBindAddress = "127.0.0.1";
    common.opsBindPort = port;
    return common;
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  private void fakeNode(String profile) throws IOException {
    Files.copy(Built.shim("fake/libnvidia-ml.so.1"), dir.resolve("libnvidia-ml.so.1"));
    Files.writeString(dir.resolve("fake.gpus"), profile);
  }

  @Test
  void theMonitorShowsTheNodesCardsUntilItIsEnded() throws Exception {
    fakeNode(Files.readString(Built.profile("8xA100.gpus")) + "load 3 util=42 used=1024MiB\n");
    int port = freePort();
    Agent agent =
        new Agent(config(port), Optional.empty(), Agent.Role.MONITOR, ResponseFilter.IDENTITY);
    try (ExecutorService thread = Executors.newSingleThreadExecutor();
        HttpClient http = HttpClient.newHttpClient()) {
      Future<Integer> ended = thread.submit(agent::run);
      String metrics =
          until(http, port, "/metrics", "core_utilization_percent{", "device_idx=\"3\"");
      assertThat(metrics)
          .containsPattern(
              "physical_gpu_device_core_utilization_percent\\{[^}]*device_idx=\"3\"[^}]*\\} 42.0")
          .containsPattern(
              "physical_gpu_device_memory_usage_in_bytes\\{[^}]*device_idx=\"3\"[^}]*\\} 1.073741824E9");
      until(http, port, "/readyz", "ok");
      until(http, port, "/healthz", "ok");
      agent.end(0);
      assertThat(ended.get(20, TimeUnit.SECONDS)).isZero();
    }
  }

  @Test
  void theNodesFileIsFollowedWhileItRuns() throws Exception {
    fakeNode(Files.readString(Built.profile("1xT4.gpus")));
    Path file = Files.writeString(dir.resolve("n.yaml"), "configs: [{nodeName: n1}]");
    int port = freePort();
    CommonFlags common = flags(port);
    common.nodeConfigPath = file;
    Agent agent =
        AgentMain.agent(
            common,
            new PluginFlags(),
            new MonitorFlags(),
            Agent.Role.MONITOR,
            ResponseFilter.IDENTITY);
    try (ExecutorService thread = Executors.newSingleThreadExecutor();
        HttpClient http = HttpClient.newHttpClient()) {
      Future<Integer> ended = thread.submit(agent::run);
      until(http, port, "/metrics", "node_gpu_device_configuration_info", "device_split=\"10\"");
      Files.writeString(file, "configs: [{nodeName: n1, deviceSplitCount: 7}]");
      until(http, port, "/metrics", "device_split=\"7\"", "outcome=\"applied\"");
      Files.writeString(file, "configs: [{nodeName: n1, deviceSplitCount: 0}]");
      until(http, port, "/metrics", "device_split=\"7\"", "outcome=\"refused\"");
      agent.end(0);
      assertThat(ended.get(20, TimeUnit.SECONDS)).isZero();
    }
  }

  @Test
  void aDriverThatDoesNotStartEndsTheProcess() throws Exception {
    fakeNode("nonsense\n");
    Agent agent =
        new Agent(
            config(freePort()), Optional.empty(), Agent.Role.MONITOR, ResponseFilter.IDENTITY);
    assertThat(agent.run()).isEqualTo(1);
  }

  @Test
  void aPortInUseEndsTheProcess() throws Exception {
    fakeNode(Files.readString(Built.profile("1xT4.gpus")));
    try (ServerSocket taken = new ServerSocket(0)) {
      Agent agent =
          new Agent(
              config(taken.getLocalPort()),
              Optional.empty(),
              Agent.Role.MONITOR,
              ResponseFilter.IDENTITY);
      assertThat(agent.run()).isEqualTo(1);
    }
  }

  /**
   * Asks again until the answer holds all parts; each refused connection and each answer yields to
   * the server.
   */
  private static String until(HttpClient http, int port, String path, String... parts)
      throws InterruptedException, IOException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .timeout(Duration.ofSeconds(5))
            .build();
    long end = System.nanoTime() + Duration.ofSeconds(30).toNanos();
    String last = "";
    while (System.nanoTime() < end) {
      try {
        last = http.send(request, HttpResponse.BodyHandlers.ofString()).body();
      } catch (ConnectException e) {
        Thread.onSpinWait();
      }
      boolean all = true;
      for (String part : parts) {
        all &= last.contains(part);
      }
      if (all) {
        return last;
      }
    }
    throw new AssertionError("no answer with " + String.join(" and ", parts) + ", last: " + last);
  }
}
