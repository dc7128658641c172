package io.vgpu.control.scheduler;

import io.vgpu.claim.InventoryCodec;
import io.vgpu.control.cluster.Host;
import io.vgpu.control.cluster.NodeRecord;
import io.vgpu.control.testing.FakeApiServer;
import io.vgpu.control.testing.Nodes;
import io.vgpu.control.testing.SchedulerClient;
import io.vgpu.model.NodeConfig;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code make bench-scheduler-memory}: the memory of the shipped process at 1 000 nodes and 2 000
 * pods, each of which it has filtered, scored and bound itself, and the processor time of that. The
 * API server is in this process.
 */
final class ExtenderRss {
  private static final int NODES = Integer.getInteger("bench.nodes", 1_000);
  private static final int PODS = Integer.getInteger("bench.pods", 2_000);

  /** The first ones, which the JVM still learns from. */
  private static final int COLD = 200;

  private static final long UP_WITHIN = TimeUnit.SECONDS.toNanos(60);

  private ExtenderRss() {}

  /** The argument is the launcher. */
  public static void main(String[] args) throws Exception {
    Path folder = Files.createTempDirectory("extender-rss");
    Path key = Files.writeString(folder.resolve("key"), "0123456789abcdef0123456789abcdef\n");
    try (FakeApiServer api = new FakeApiServer()) {
      List<String> names = nodes(api);
      int port = freePort();
      int ops = freePort();
      Process extender =
          new ProcessBuilder(
                  args[0],
                  "scheduler-extender",
                  "--master=" + api.url(),
                  "--server-bind-port=" + port,
                  "--ops-bind-address=127.0.0.1",
                  "--ops-bind-port=" + ops,
                  "--claim-key-file=" + key)
              .redirectErrorStream(true)
              .redirectOutput(folder.resolve("log").toFile())
              .start();
      try (SchedulerClient client = new SchedulerClient(port)) {
        await(client, extender);
        long started = rss(extender, "VmRSS");
        long cpuStarted = cpuMs(extender);
        for (int i = 0; i < COLD; i++) {
          schedule(api, client, names, i);
        }
        long cpuCold = cpuMs(extender);
        for (int i = COLD; i < PODS; i++) {
          schedule(api, client, names, i);
        }
        double cold = (double) (cpuCold - cpuStarted) / COLD;
        double warm = (double) (cpuMs(extender) - cpuCold) / (PODS - COLD);
        ObjectNode row = ExtenderJson.JSON.createObjectNode();
        row.put("nodes", NODES).put("pods", api.bound().size());
        row.put("rss_started_mib", started >> 10).put("rss_mib", rss(extender, "VmRSS") >> 10);
        row.put("rss_peak_mib", rss(extender, "VmHWM") >> 10);
        row.put("cpu_started_ms", cpuStarted).put("cold_pods", COLD);
        row.put("cpu_ms_a_cold_pod", Math.round(cold * 100) / 100.0);
        row.put("cpu_ms_a_warm_pod", Math.round(warm * 100) / 100.0);
        System.out.println(row);
      } finally {
        extender.destroy();
        extender.waitFor();
      }
    }
  }

  private static List<String> nodes(FakeApiServer api) {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < NODES; i++) {
      String name = "node-%05d".formatted(i);
      NodeRecord plain = Nodes.record(name, BenchWorld.devices(), NodeConfig.DEFAULT);
      api.node(
          new NodeRecord(
              name,
              plain.allocatable(),
              plain.register(),
              plain.config(),
              Host.PLENTY,
              InventoryCodec.encodeTopology(BenchWorld.links()),
              null));
      names.add(name);
    }
    return names;
  }

  private static void schedule(FakeApiServer api, SchedulerClient client, List<String> names, int i)
      throws IOException, InterruptedException {
    Map<String, String> words =
        i % 2 == 0
            ? Map.of("node-scheduler-policy", "binpack")
            : Map.of("node-scheduler-policy", "foresight");
    BenchPods.Asked asked = BenchPods.asked(new Random(i), "p" + i, words);
    ObjectNode pod = api.pod("p" + i, asked.request().demand(), asked.annotations());
    String body = SchedulerClient.args(pod, names);
    List<String> fits =
        SchedulerClient.strings(
            ExtenderJson.JSON
                .readTree(client.call("/scheduler/filter", body).body())
                .get("NodeNames"));
    String best =
        client.prioritize(pod, fits).entrySet().stream()
            .max(Map.Entry.comparingByValue())
            .orElseThrow()
            .getKey();
    String error = client.bind(pod, best);
    if (!error.isEmpty()) {
      throw new IOException("p" + i + ": " + error);
    }
  }

  private static void await(SchedulerClient client, Process extender) throws InterruptedException {
    long end = System.nanoTime() + UP_WITHIN;
    while (System.nanoTime() < end && extender.isAlive()) {
      try {
        if (client.call("/readyz", null).statusCode() == 200) {
          return;
        }
      } catch (IOException e) {
        // it does not listen yet
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200));
    }
    throw new IllegalStateException("the extender does not come up");
  }

  private static long cpuMs(Process process) {
    return process.info().totalCpuDuration().orElseThrow().toMillis();
  }

  /** KiB. */
  private static long rss(Process process, String field) throws IOException {
    for (String line :
        Files.readAllLines(
            Path.of("/proc/" + process.pid() + "/status"), StandardCharsets.US_ASCII)) {
      if (line.startsWith(field + ":")) {
        return Long.parseLong(line.replaceAll("[^0-9]", ""));
      }
    }
    throw new IOException("no " + field);
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
