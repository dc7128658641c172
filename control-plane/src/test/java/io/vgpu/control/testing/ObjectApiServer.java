package io.vgpu.control.testing;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.ServerWebSocket;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A small API server in this JVM: namespaced objects of any kind with UIDs, versions, preconditions
 * of DELETE, evictions, the selectors that the controller uses, and watches over web sockets. All
 * state is touched on its event loop only; {@link #on} gets there from a test.
 */
public final class ObjectApiServer implements AutoCloseable {
  private static final JsonMapper JSON = JsonMapper.shared();

  private final Vertx vertx = Vertx.vertx();
  private final Context loop = vertx.getOrCreateContext();
  private final HttpServer server;
  private final Map<String, ObjectNode> objects = new LinkedHashMap<>();
  private final List<ObjectNode> history = new ArrayList<>();
  private final List<Watcher> watchers = new ArrayList<>();
  private final List<String> requests = new ArrayList<>();
  private long version = 100;

  /** Answers some requests otherwise: the status, or 0 to go on; removed when it has answered. */
  public record Fault(Predicate<String> request, int status, boolean afterEffect) {}

  private final List<Fault> faults = new ArrayList<>();

  private record Watcher(String collection, Map<String, String> query, ServerWebSocket socket) {}

  private record Path(String collection, String name, String sub) {
    String key() {
      return collection + "/" + name;
    }
  }

  public ObjectApiServer() {
    server = vertx.createHttpServer().requestHandler(this::handle);
    await(
        Future.future(
            promise -> loop.runOnContext(v -> server.listen(0, "127.0.0.1").onComplete(promise))));
  }

  /** For {@code --master}. */
  public String url() {
    return "http://127.0.0.1:" + server.actualPort();
  }

  /** Runs on the event loop and waits for it. */
  public <T> T on(Supplier<T> work) {
    return await(
        Future.future(
            promise ->
                loop.runOnContext(
                    v -> Future.succeededFuture().map(x -> work.get()).onComplete(promise))));
  }

  /** Adds or replaces an object, as somebody else would. */
  public ObjectNode put(String collection, ObjectNode object) {
    return on(() -> store(collection, object, objects.containsKey(key(collection, object))));
  }

  /** A copy of an object, or an empty one. */
  public ObjectNode get(String collection, String name) {
    return on(
        () -> {
          ObjectNode found = objects.get(collection + "/" + name);
          return found == null ? JSON.createObjectNode() : found.deepCopy();
        });
  }

  /** Copies of all objects of a collection. */
  public List<ObjectNode> all(String collection) {
    return on(
        () ->
            objects.entrySet().stream()
                .filter(e -> e.getKey().startsWith(collection + "/"))
                .map(e -> e.getValue().deepCopy())
                .toList());
  }

  /** Removes an object at once. */
  public void remove(String collection, String name) {
    on(() -> removed(collection + "/" + name));
  }

  /** The next matching request ({@code METHOD path}) gets this status instead of its answer. */
  public void fail(Fault fault) {
    on(() -> faults.add(fault));
  }

  /** Every request so far, as {@code METHOD path}. */
  public List<String> requests() {
    return on(() -> List.copyOf(requests));
  }

  /** Waits until a condition on the state holds, at most 20 s. */
  public void until(String what, Predicate<ObjectApiServer> condition) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (!condition.test(this)) {
      if (System.nanoTime() > end) {
        throw new AssertionError("not within 20 s: " + what + "\n" + String.join("\n", requests()));
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
    }
  }

  private static <T> T await(Future<T> future) {
    return future.toCompletionStage().toCompletableFuture().orTimeout(20, TimeUnit.SECONDS).join();
  }

  private static String key(String collection, JsonNode object) {
    return collection + "/" + object.path("metadata").path("name").asString();
  }

  // ---- requests

  private void handle(HttpServerRequest request) {
    String line = request.method() + " " + request.path();
    requests.add(line);
    if ("websocket".equalsIgnoreCase(request.getHeader("Upgrade"))) {
      request.toWebSocket().onSuccess(socket -> watch(request, socket));
      return;
    }
    request
        .body()
        .onSuccess(
            body -> {
              Fault fault =
                  faults.stream().filter(f -> f.request().test(line)).findFirst().orElse(null);
              if (fault != null) {
                faults.remove(fault);
                if (fault.afterEffect()) {
                  answer(request, body, (status, object) -> {});
                }
                send(request, fault.status(), status(fault.status(), "Fault", "injected"));
                return;
              }
              answer(request, body, (status, object) -> send(request, status, object));
            });
  }

  private interface Answer {
    void is(int status, JsonNode object);
  }

  private void answer(HttpServerRequest request, Buffer body, Answer answer) {
    Path path = parse(request.path());
    ObjectNode sent =
        body.length() == 0 ? JSON.createObjectNode() : (ObjectNode) JSON.readTree(body.getBytes());
    switch (request.method().name()) {
      case "GET" -> {
        if (path.name().isEmpty()) {
          answer.is(200, list(path.collection(), query(request)));
        } else {
          found(path, answer, object -> answer.is(200, object));
        }
      }
      case "POST" -> {
        if (path.sub().equals("eviction")) {
          found(path, answer, o -> delete(path, o, sent.path("deleteOptions"), answer));
        } else if (objects.containsKey(key(path.collection(), sent))) {
          answer.is(409, status(409, "AlreadyExists", "already exists"));
        } else {
          answer.is(201, store(path.collection(), sent, false));
        }
      }
      case "PUT", "PATCH" ->
          found(
              path,
              answer,
              old -> {
                String wanted = sent.path("metadata").path("resourceVersion").asString("");
                String is = old.path("metadata").path("resourceVersion").asString();
                if (!wanted.isEmpty() && !wanted.equals(is)) {
                  answer.is(409, status(409, "Conflict", "the object has been modified"));
                  return;
                }
                ObjectNode whole = request.method().name().equals("PUT") ? sent : merged(old, sent);
                answer.is(200, store(path.collection(), whole, true));
              });
      case "DELETE" -> found(path, answer, object -> delete(path, object, sent, answer));
      default -> answer.is(405, status(405, "MethodNotAllowed", "no"));
    }
  }

  private static ObjectNode merged(ObjectNode old, ObjectNode patch) {
    ObjectNode result = old.deepCopy();
    patch
        .properties()
        .forEach(
            e -> {
              if (e.getValue() instanceof ObjectNode part
                  && result.path(e.getKey()) instanceof ObjectNode whole) {
                result.set(e.getKey(), merged(whole, part));
              } else if (e.getValue().isNull()) {
                result.remove(e.getKey());
              } else {
                result.set(e.getKey(), e.getValue());
              }
            });
    return result;
  }

  private void found(Path path, Answer answer, Consumer<ObjectNode> then) {
    ObjectNode object = objects.get(path.key());
    if (object == null) {
      answer.is(404, status(404, "NotFound", path.key() + " not found"));
    } else {
      then.accept(object);
    }
  }

  private void delete(Path path, ObjectNode object, JsonNode options, Answer answer) {
    ObjectNode metadata = object.withObject("/metadata");
    for (String field : List.of("uid", "resourceVersion")) {
      String wanted = options.path("preconditions").path(field).asString("");
      if (!wanted.isEmpty() && !wanted.equals(metadata.path(field).asString())) {
        answer.is(409, status(409, "Conflict", "Precondition failed: " + field));
        return;
      }
    }
    boolean running = object.path("status").path("phase").asString("").equals("Running");
    if (running) {
      metadata.put("deletionTimestamp", "2026-01-01T00:00:00Z");
      store(path.collection(), object, true);
    } else {
      removed(path.key());
    }
    answer.is(200, status(200, "", "deleted"));
  }

  // ---- state

  private ObjectNode store(String collection, ObjectNode object, boolean replace) {
    ObjectNode metadata = object.withObject("/metadata");
    ObjectNode old = objects.get(key(collection, object));
    metadata.put("resourceVersion", Long.toString(++version));
    metadata.put(
        "uid",
        old == null || !old.path("metadata").has("uid")
            ? UUID.randomUUID().toString()
            : old.path("metadata").path("uid").asString());
    if (collection.contains("/namespaces/")) {
      metadata.put("namespace", collection.split("/namespaces/", -1)[1].split("/", -1)[0]);
    }
    if (!metadata.has("creationTimestamp")) {
      metadata.put("creationTimestamp", Instant.now().toString());
    }
    objects.put(key(collection, object), object);
    tell(collection, replace ? "MODIFIED" : "ADDED", object);
    return object;
  }

  private boolean removed(String key) {
    ObjectNode object = objects.remove(key);
    if (object != null) {
      object.withObject("/metadata").put("resourceVersion", Long.toString(++version));
      tell(key.substring(0, key.lastIndexOf('/')), "DELETED", object);
    }
    return object != null;
  }

  private void tell(String collection, String type, ObjectNode object) {
    ObjectNode event = JSON.createObjectNode().put("collection", collection).put("type", type);
    event.set("object", object.deepCopy());
    history.add(event);
    watchers.forEach(w -> send(w, event));
  }

  private static void send(Watcher watcher, ObjectNode event) {
    boolean within =
        matches(event.path("collection").asString(), watcher.collection())
            && selected(event.path("object"), watcher.query());
    if (within && !watcher.socket().isClosed()) {
      ObjectNode told = JSON.createObjectNode().put("type", event.path("type").asString());
      told.set("object", event.path("object"));
      watcher.socket().writeTextMessage(told.toString());
    }
  }

  private void watch(HttpServerRequest request, ServerWebSocket socket) {
    Watcher watcher = new Watcher(parse(request.path()).collection(), query(request), socket);
    long from = Long.parseLong(watcher.query().getOrDefault("resourceVersion", "0"));
    history.stream()
        .filter(e -> e.path("object").path("metadata").path("resourceVersion").asLong(0) > from)
        .forEach(e -> send(watcher, e));
    watchers.add(watcher);
  }

  private ObjectNode list(String collection, Map<String, String> query) {
    ObjectNode list = JSON.createObjectNode();
    list.put("apiVersion", "v1").put("kind", "List");
    list.putObject("metadata").put("resourceVersion", Long.toString(version));
    ArrayNode items = list.putArray("items");
    objects.forEach(
        (key, object) -> {
          if (matches(key.substring(0, key.lastIndexOf('/')), collection)
              && selected(object, query)) {
            items.add(object.deepCopy());
          }
        });
    return list;
  }

  /** A collection of all namespaces holds those of each. */
  private static boolean matches(String collection, String wanted) {
    return collection.equals(wanted)
        || collection.replaceFirst("/namespaces/[^/]+", "").equals(wanted);
  }

  private static boolean selected(JsonNode object, Map<String, String> query) {
    String field = query.getOrDefault("fieldSelector", "");
    if (field.startsWith("status.phase=")
        && !object.path("status").path("phase").asString("").equals(field.substring(13))) {
      return false;
    }
    if (field.startsWith("spec.nodeName=")
        && !object.path("spec").path("nodeName").asString("").equals(field.substring(14))) {
      return false;
    }
    if (field.startsWith("involvedObject.uid=")
        && !object.path("involvedObject").path("uid").asString("").equals(field.substring(19))) {
      return false;
    }
    String label = query.getOrDefault("labelSelector", "");
    if (label.isEmpty()) {
      return true;
    }
    String[] pair = label.split("=", -1);
    JsonNode value = object.path("metadata").path("labels").path(pair[0]);
    return pair.length == 1 ? !value.isMissingNode() : value.asString("").equals(pair[1]);
  }

  private static Map<String, String> query(HttpServerRequest request) {
    Map<String, String> query = new LinkedHashMap<>();
    request.params().forEach(query::put);
    return query;
  }

  private static Path parse(String path) {
    // /api/v1/[namespaces/NS/]PLURAL[/NAME[/SUB]] or /apis/GROUP/VERSION/…
    String[] steps = path.split("/");
    int plural = path.startsWith("/apis/") ? 4 : 3;
    plural += steps[plural].equals("namespaces") && steps.length > plural + 2 ? 2 : 0;
    String collection = String.join("/", List.of(steps).subList(0, plural + 1));
    return new Path(
        collection,
        steps.length > plural + 1 ? steps[plural + 1] : "",
        steps.length > plural + 2 ? steps[plural + 2] : "");
  }

  private static ObjectNode status(int code, String reason, String message) {
    ObjectNode status = JSON.createObjectNode();
    status.put("apiVersion", "v1").put("kind", "Status").put("code", code);
    status.put("status", code < 400 ? "Success" : "Failure");
    return status.put("reason", reason).put("message", message);
  }

  private static void send(HttpServerRequest request, int status, JsonNode object) {
    request
        .response()
        .setStatusCode(status)
        .putHeader("Content-Type", "application/json")
        .end(object.toString());
  }

  @Override
  public void close() {
    await(vertx.close());
  }
}
