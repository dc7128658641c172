package io.vgpu.agent.testing;

import java.io.IOException;
import java.net.ConnectException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The agent as a node runs it: its launcher, in a process of its own, and what the kernel says of
 * that process. Needs a mount namespace in which it may mount.
 */
public final class AgentProcess implements AutoCloseable {
  private static final Duration BOUND = Duration.ofSeconds(60);
  private static final long LOOK_EVERY_NS = 5_000_000;
  private static final int TICKS_A_SECOND = 100; // USER_HZ, the same on every Linux that we run on

  private final Process process;
  private final Path log;
  private final int port;
  private final HttpClient http = HttpClient.newHttpClient();
  private final long begunNs = System.nanoTime();

  /** Starts {@code vgpu-agent node} with these flags; {@code dir} takes what it writes. */
  public AgentProcess(
      Path launcher, SmallNode node, Path dir, Map<String, String> environment, List<String> flags)
      throws IOException {
    port = freePort();
    log = dir.resolve("agent.log");
    Path driver = dir.resolve("driver");
    if (!Files.exists(driver)) {
      Files.createDirectories(driver.resolve("usr"));
      Files.createSymbolicLink(driver.resolve("usr/lib64"), Built.shim("fake"));
    }
    List<String> words = new ArrayList<>(List.of(launcher.toString(), "node"));
    words.addAll(node.agentFlags());
    words.addAll(
        List.of(
            "--container-driver-root=" + driver,
            "--manager-dir=" + dir.resolve("manager"),
            "--host-manager-dir=" + dir.resolve("manager"),
            "--usage-dir=" + dir.resolve("usage"),
            "--shim-library=" + Built.shim("libvgpu-control.so"),
            "--ops-bind-address=127.0.0.1",
            "--ops-bind-port=" + port));
    words.addAll(flags);
    ProcessBuilder builder =
        new ProcessBuilder(words).redirectErrorStream(true).redirectOutput(log.toFile());
    builder.environment().putAll(environment);
    process = builder.start();
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  /** Waits until it says that it is ready; nanoseconds from exec. */
  public long ready() throws IOException, InterruptedException {
    long end = begunNs + BOUND.toNanos();
    while (System.nanoTime() < end && process.isAlive()) {
      try {
        if (get("/readyz").statusCode() == 200) {
          return System.nanoTime() - begunNs;
        }
      } catch (ConnectException notYet) {
        // its port is not open yet
      }
      LockSupport.parkNanos(LOOK_EVERY_NS);
    }
    throw new IOException("the agent is not ready within " + BOUND + ":\n" + log());
  }

  /** One scrape, compressed as Prometheus asks; the body's bytes. */
  public int scrape() throws IOException, InterruptedException {
    return get("/metrics").body().length;
  }

  private HttpResponse<byte[]> get(String path) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .header("Accept-Encoding", "gzip")
            .timeout(BOUND)
            .build();
    return http.send(request, HttpResponse.BodyHandlers.ofByteArray());
  }

  /** Processor time of all its threads since its start, in milliseconds; 10 ms steps. */
  public long cpuMs() throws IOException {
    return cpuMs(Files.readString(proc("stat")));
  }

  private static long cpuMs(String stat) {
    // what follows the name, which may hold blanks: field 3 and on of proc(5)
    List<String> words = List.of(stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1));
    return (Long.parseLong(words.get(11)) + Long.parseLong(words.get(12))) * 1000 / TICKS_A_SECOND;
  }

  /** The same by the threads' names, numbers at their ends left out. */
  public Map<String, Long> cpuMsByThread() throws IOException {
    Map<String, Long> by = new TreeMap<>();
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(proc("task"))) {
      for (Path thread : threads) {
        try {
          String stat = Files.readString(thread.resolve("stat"));
          String name = stat.substring(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
          by.merge(name.replaceAll("[-#]?[0-9]+$", ""), cpuMs(stat), Long::sum);
        } catch (NoSuchFileException ended) {
          // a thread that is over tells no more
        }
      }
    }
    return by;
  }

  /** A line of its status in kB, such as {@code VmRSS}; or a count, such as {@code Threads}. */
  public long status(String name) throws IOException {
    for (String line : Files.readAllLines(proc("status"))) {
      if (line.startsWith(name + ":")) {
        return Long.parseLong(line.substring(name.length() + 1).replace("kB", "").strip());
      }
    }
    throw new IOException("no " + name + " in /proc/" + process.pid() + "/status");
  }

  private Path proc(String file) {
    return Path.of("/proc", Long.toString(process.pid()), file);
  }

  /** What it wrote so far, both streams. */
  public String log() throws IOException {
    return Files.readString(log);
  }

  /** SIGTERM, and the exit status. */
  public int stop() throws IOException, InterruptedException {
    process.destroy();
    if (!process.waitFor(BOUND.toMillis(), TimeUnit.MILLISECONDS)) {
      process.destroyForcibly();
      throw new IOException("the agent did not end within " + BOUND + ":\n" + log());
    }
    return process.exitValue();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
