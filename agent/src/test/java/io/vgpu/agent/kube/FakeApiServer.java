package io.vgpu.agent.kube;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.vgpu.kube.KubeClient;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** An HTTP server that notes the writes it gets and answers GETs from a table; loopback only. */
public final class FakeApiServer implements AutoCloseable {
  private static final long BOUND = 10;

  /** One write. */
  public record Write(String method, String path, String body, String authorization) {}

  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final BlockingQueue<Write> writes = new ArrayBlockingQueue<>(10_000);
  private final AtomicInteger failures = new AtomicInteger();
  private volatile int failureCode = 503;

  /** Path to JSON, of what is read and of reviews. */
  public final Map<String, String> answers = new ConcurrentHashMap<>();

  /** The authorization header of the last GET. */
  public volatile String lastAuthorization = "";

  public FakeApiServer() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/", this::answer);
    server.start();
  }

  public String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /** A client with a token, through a kubeconfig as a user has it. */
  public KubeClient client(Path dir) throws IOException {
    Path file = dir.resolve("kubeconfig");
    Files.writeString(
        file,
        """
        apiVersion: v1
        kind: Config
        clusters: [{name: c, cluster: {server: "%s"}}]
        users: [{name: u, user: {token: agents-token}}]
        contexts: [{name: x, context: {cluster: c, user: u}}]
        current-context: x
        """
            .formatted(url()));
    return KubeClient.open(file, null, Duration.ofSeconds(BOUND));
  }

  /** The next writes fail with 503. */
  public void failNext(int writes) {
    failNext(writes, 503);
  }

  /** The next writes fail with this code. */
  public void failNext(int writes, int code) {
    failureCode = code;
    failures.set(writes);
  }

  /** Writes that were taken and that nobody asked {@link #next} for. */
  public int unread() {
    return writes.size();
  }

  /** The next write of a kind of object; fails when none comes in time. */
  public Write next(String pathPart) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(BOUND);
    while (true) {
      Write w = writes.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
      if (w == null) {
        throw new AssertionError("no write to " + pathPart + " came in time");
      }
      if (w.path().contains(pathPart)) {
        return w;
      }
    }
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      String path = exchange.getRequestURI().getPath();
      String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
      String authorization = String.valueOf(exchange.getRequestHeaders().getFirst("Authorization"));
      if (exchange.getRequestMethod().equals("GET")) {
        lastAuthorization = authorization;
        String json = answers.get(path);
        send(exchange, json == null ? 404 : 200, json == null ? status(404) : json);
      } else if (failures.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
        send(exchange, failureCode, status(failureCode));
      } else {
        String review = path.endsWith("reviews") ? answers.get(path) : null;
        writes.add(new Write(exchange.getRequestMethod(), path, body, authorization));
        send(
            exchange,
            200,
            review != null
                ? review
                : "{\"apiVersion\":\"v1\",\"kind\":\""
                    + (path.contains("/events") ? "Event" : "Pod")
                    + "\",\"metadata\":{\"name\":\"x\",\"namespace\":\"y\"}}");
      }
    }
  }

  private static String status(int code) {
    return "{\"apiVersion\":\"v1\",\"kind\":\"Status\",\"status\":\"Failure\",\"code\":"
        + code
        + ",\"message\":\"as told\"}";
  }

  private static void send(HttpExchange exchange, int code, String json) throws IOException {
    byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().add("Content-Type", "application/json");
    exchange.sendResponseHeaders(code, bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
