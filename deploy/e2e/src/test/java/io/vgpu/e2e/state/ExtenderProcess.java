package io.vgpu.e2e.state;

import io.vgpu.e2e.cluster.Await;
import io.vgpu.e2e.cluster.ClusterException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The extender as a process of its own on this machine's loopback, where a test can ask it and kill
 * it; it comes back with the same arguments. One thread starts and ends it, any asks.
 */
final class ExtenderProcess implements AutoCloseable {
  private static final Duration READY = Duration.ofSeconds(30);
  private static final Duration ANSWER = Duration.ofSeconds(30);

  private final List<String> command;
  private final Path log;
  private final int port;
  private final int opsPort;
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private @Nullable Process process;

  /** {@code master} is where it finds the API server. */
  ExtenderProcess(Path launcher, Path kubeconfig, Path key, String master, Path log) {
    this.port = freePort();
    this.opsPort = freePort();
    this.log = log;
    this.command =
        List.of(
            launcher.toString(),
            "scheduler-extender",
            "--kubeconfig=" + kubeconfig,
            "--master=" + master,
            "--claim-key-file=" + key,
            "--server-bind-port=" + port,
            "--ops-bind-address=127.0.0.1",
            "--ops-bind-port=" + opsPort);
  }

  private static int freePort() {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException("no free port", e);
    }
  }

  /** Starts it and waits until it has listed the cluster. */
  ExtenderProcess start() {
    try {
      Files.createDirectories(log.getParent());
      process =
          new ProcessBuilder(new ArrayList<>(command))
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
              .start();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot start " + command, e);
    }
    Await.until("the extender to be ready, see " + log, READY, this::ready);
    return this;
  }

  private boolean ready() {
    Process running = process;
    if (running == null || !running.isAlive()) {
      throw new ClusterException("the extender has ended, see " + log);
    }
    try {
      return get("/readyz").statusCode() == 200;
    } catch (IOException e) {
      return false; // not listening yet
    }
  }

  /** A page of its health port. */
  HttpResponse<String> get(String path) throws IOException {
    return send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + opsPort + path)));
  }

  /** The answer of a verb; {@link IOException} when the process is killed meanwhile. */
  String post(String verb, String body) throws IOException {
    return send(HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:" + port + "/scheduler/" + verb))
            .POST(HttpRequest.BodyPublishers.ofString(body)))
        .body();
  }

  private HttpResponse<String> send(HttpRequest.Builder request) throws IOException {
    try {
      return http.send(request.timeout(ANSWER).build(), HttpResponse.BodyHandlers.ofString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ClusterException("interrupted while asking the extender", e);
    }
  }

  /** SIGKILL; returns when it is gone. */
  void kill9() {
    Process running = process;
    if (running == null) {
      return;
    }
    running.destroyForcibly();
    try {
      if (!running.waitFor(10, TimeUnit.SECONDS)) {
        throw new ClusterException("the extender outlives SIGKILL");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ClusterException("interrupted while waiting for the extender's end", e);
    }
    process = null;
  }

  @Override
  public void close() {
    kill9();
    http.close();
  }
}
