package io.vgpu.control.testing;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vgpu.claim.ClaimCodec;
import io.vgpu.claim.FormatException;
import io.vgpu.claim.Names;
import io.vgpu.control.cluster.Footprint;
import io.vgpu.control.cluster.Host;
import io.vgpu.control.cluster.NodeRecord;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.model.PodDemand;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * A small API server inside the JVM: lists in pages, watches over WebSocket, binds under UID and
 * resourceVersion as the real one does (identity-facts.md 4), and misbehaves on request.
 */
public final class FakeApiServer implements AutoCloseable {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  /** What happens to one Binding. */
  public enum Fate {
    /** As it should. */
    KEPT,
    /** The pod has changed a moment before. */
    CHANGED,
    /** Written, and the connection breaks before the answer. */
    ANSWER_LOST,
    /** Not written, and the connection breaks. */
    REQUEST_LOST,
    /** Written, and answered with a conflict, as a retrying proxy would. */
    ECHOED,
    /** Refused by flow control. */
    TOO_MANY
  }

  /** One request. */
  public record Call(String verb, String path) {}

  private final Vertx vertx = Vertx.vertx();
  private final Map<String, ObjectNode> nodes = new TreeMap<>();
  private final Map<String, ObjectNode> pods = new TreeMap<>();
  private final Map<String, Integer> schedulers = new ConcurrentHashMap<>();
  private final Map<String, ObjectNode> budgets = new TreeMap<>();
  private final FakeWatches watches = new FakeWatches();
  private final List<Call> calls = new CopyOnWriteArrayList<>();
  private final List<JsonNode> events = new CopyOnWriteArrayList<>();
  private volatile Function<String, Fate> fates = pod -> Fate.KEPT;
  private final List<Consumer<ObjectNode>> onBound = new CopyOnWriteArrayList<>();
  private final HttpServer server;
  private volatile String policyVersion = "v1";
  private long version = 100;

  public FakeApiServer() {
    server =
        vertx
            .createHttpServer()
            .requestHandler(this::handle)
            .listen(0, "127.0.0.1")
            .toCompletionStage()
            .toCompletableFuture()
            .join();
  }

  public String url() {
    return "http://127.0.0.1:" + server.actualPort();
  }

  /** The one version of disruption budgets that it has; as of an older Kubernetes, or upgraded. */
  public synchronized void policyVersion(String only) {
    policyVersion = only;
    budgets.values().forEach(b -> b.put("apiVersion", "policy/" + only));
    watches.breakAll();
  }

  /** What becomes of Bindings from now on. */
  public void fate(Function<String, Fate> ofPod) {
    fates = ofPod;
  }

  /** Told of every pod in the moment it is bound. */
  public void onBound(Consumer<ObjectNode> listener) {
    onBound.add(listener);
  }

  public List<Call> calls() {
    return calls;
  }

  public List<JsonNode> events() {
    return events;
  }

  // ---- objects

  public synchronized void node(NodeRecord node) {
    ObjectNode o = FakeObjects.node(node);
    boolean known = nodes.put(node.name(), o) != null;
    changed("nodes", known ? "MODIFIED" : "ADDED", o);
  }

  /** A disruption budget over the pods with a label. */
  public synchronized void budget(String name, String label, String value, int allowed) {
    ObjectNode o = FakeObjects.budget(policyVersion, name, label, value, allowed);
    boolean known = budgets.put(name, o) != null;
    changed("poddisruptionbudgets", known ? "MODIFIED" : "ADDED", o);
  }

  /** Creates a pod that requests CPU and memory besides. */
  public synchronized ObjectNode pod(
      String name, PodDemand demand, Map<String, String> annotations, Host host) {
    ObjectNode o = pod(name, demand, annotations);
    ObjectNode known = known(name);
    ((ObjectNode) known.get("spec").get("containers").get(0).get("resources"))
        .putObject("requests")
        .put("cpu", host.cpuMilli() + "m")
        .put("memory", host.memoryMiB() + "Mi");
    o.set("spec", known.get("spec").deepCopy());
    changed("pods", "MODIFIED", known);
    return o;
  }

  /** Says when a pod was made. */
  public synchronized void created(String name, String time) {
    ((ObjectNode) known(name).get("metadata")).put("creationTimestamp", time);
    changed("pods", "MODIFIED", known(name));
  }

  /** What a bound pod's claim takes. */
  public synchronized Footprint footprint(String name, PodRequest pod) {
    String claim =
        known(name)
            .path("metadata")
            .path("annotations")
            .path(Names.DEFAULT.preAllocated())
            .asString();
    try {
      return Footprint.of(ClaimCodec.decode(claim), pod);
    } catch (FormatException e) {
      throw new IllegalStateException(claim, e);
    }
  }

  /** Puts a pod on a node without a Binding of ours, as kube-scheduler does with others'. */
  public synchronized void assign(String name, String node) {
    ((ObjectNode) known(name).get("spec")).put("nodeName", node);
    changed("pods", "MODIFIED", known(name));
  }

  /** Creates a pod; its UID is {@code uid-NAME}. */
  public ObjectNode pod(String name, PodDemand demand, Map<String, String> annotations) {
    return pod(name, demand, annotations, o -> {});
  }

  /** The same with what {@code more} adds. */
  public synchronized ObjectNode pod(
      String name, PodDemand demand, Map<String, String> annotations, Consumer<ObjectNode> more) {
    ObjectNode o = FakeObjects.pod(name, demand, annotations);
    more.accept(o);
    pods.put(name, o);
    changed("pods", "ADDED", o);
    return o.deepCopy();
  }

  public synchronized ObjectNode read(String pod) {
    return known(pod).deepCopy();
  }

  public synchronized List<ObjectNode> bound() {
    return pods.values().stream()
        .filter(p -> p.path("spec").has("nodeName"))
        .map(ObjectNode::deepCopy)
        .toList();
  }

  private ObjectNode known(String pod) {
    return Objects.requireNonNull(pods.get(pod), pod);
  }

  /** Changes something of a pod that nobody plans by. */
  public synchronized void touch(String pod) {
    ObjectNode o = known(pod);
    ((ObjectNode) o.get("metadata")).put("touched", version);
    changed("pods", "MODIFIED", o);
  }

  public synchronized void phase(String pod, String phase) {
    ObjectNode o = known(pod);
    ((ObjectNode) o.get("status")).put("phase", phase);
    changed("pods", "MODIFIED", o);
  }

  public synchronized void delete(String pod) {
    ObjectNode o = pods.remove(pod);
    if (o != null) {
      changed("pods", "DELETED", o);
    }
  }

  /** Breaks every watch; the clients come again. */
  public synchronized void breakWatches() {
    watches.breakAll();
  }

  private void changed(String kind, String type, ObjectNode o) {
    version++;
    ((ObjectNode) o.get("metadata")).put("resourceVersion", Long.toString(version));
    watches.tell(kind, type, o);
  }

  // ---- requests

  private void handle(HttpServerRequest request) {
    calls.add(
        new Call(
            request.method().name().equals("GET") && request.getParam("watch") != null
                ? "WATCH"
                : request.method().name(),
            request.path()));
    String[] path = request.path().split("/", -1);
    if (request.method() == HttpMethod.GET && path.length == 4) {
      listOrWatch(request, path[3]);
    } else if (request.method() == HttpMethod.GET
        && request.path().startsWith("/apis/policy/" + policyVersion + "/")) {
      listOrWatch(request, path[4]);
    } else if (request.method() == HttpMethod.GET && request.path().contains("/proxy/")) {
      proxy(request, path[6]);
    } else if (request.method() == HttpMethod.GET && path.length == 6) {
      listInNamespace(request, path[4], path[5]);
    } else if (request.method() == HttpMethod.GET && path.length == 7) {
      get(request, path[6]);
    } else if (request.method() == HttpMethod.POST && request.path().endsWith("/binding")) {
      request.body().onSuccess(body -> bind(request, path[6], parse(body.toString())));
    } else if (request.method() == HttpMethod.POST && request.path().endsWith("/events")) {
      request
          .body()
          .onSuccess(
              body -> {
                events.add(parse(body.toString()));
                answer(request, 201, body.toString());
              });
    } else {
      status(request, 404, "no such path " + request.path());
    }
  }

  private static ObjectNode parse(String text) {
    return (ObjectNode) JSON.readTree(text);
  }

  private void listOrWatch(HttpServerRequest request, String kind) {
    if (request.getParam("watch") != null) {
      request
          .toWebSocket()
          .onSuccess(
              socket -> {
                synchronized (this) {
                  long from = Long.parseLong(request.getParam("resourceVersion"));
                  watches.begin(
                      kind,
                      socket,
                      objects(kind).values().stream().filter(o -> versionOf(o) > from).toList());
                }
              });
      return;
    }
    synchronized (this) {
      answer(
          request,
          200,
          FakeObjects.list(
                  kind,
                  policyVersion,
                  version,
                  objects(kind).values().stream().filter(o -> selected(request, o)).toList())
              .toString());
    }
  }

  /** The one field selector that is used of all pods: their node. */
  private static boolean selected(HttpServerRequest request, ObjectNode o) {
    String selector = request.getParam("fieldSelector");
    return selector == null
        || selector.equals("spec.nodeName=" + o.path("spec").path("nodeName").asString(""));
  }

  /** Pods of kube-system are schedulers; events are of all namespaces. */
  private synchronized void listInNamespace(
      HttpServerRequest request, String namespace, String kind) {
    ObjectNode list = JSON.createObjectNode();
    list.put("kind", kind.equals("pods") ? "PodList" : "EventList").put("apiVersion", "v1");
    list.putObject("metadata").put("resourceVersion", Long.toString(version));
    var items = list.putArray("items");
    if (kind.equals("events")) {
      String selector = request.getParam("fieldSelector");
      events.stream()
          .filter(
              e ->
                  selector == null
                      || selector.endsWith(e.path("involvedObject").path("uid").asString()))
          .forEach(items::add);
    } else if (namespace.equals("kube-system")) {
      schedulers
          .keySet()
          .forEach(
              name -> {
                ObjectNode pod = items.addObject();
                pod.putObject("metadata").put("name", name).put("namespace", namespace);
              });
    }
    answer(request, 200, list.toString());
  }

  /** A scheduler's pod, whose health port is {@code port} of this host. */
  public synchronized void scheduler(String name, int port) {
    schedulers.put(name, port);
  }

  private void proxy(HttpServerRequest request, String pod) {
    int port = schedulers.getOrDefault(pod.split(":", -1)[0], 0);
    String path = request.path().substring(request.path().indexOf("/proxy/") + 6);
    Future<HttpClientResponse> response =
        vertx
            .createHttpClient()
            .request(HttpMethod.GET, port, "127.0.0.1", path)
            .compose(HttpClientRequest::send);
    response
        .compose(r -> r.body().onSuccess(body -> answer(request, r.statusCode(), body.toString())))
        .onFailure(gone -> status(request, 503, String.valueOf(gone.getMessage())));
  }

  private Map<String, ObjectNode> objects(String kind) {
    return switch (kind) {
      case "pods" -> pods;
      case "nodes" -> nodes;
      default -> budgets;
    };
  }

  private static long versionOf(ObjectNode o) {
    return Long.parseLong(o.path("metadata").path("resourceVersion").stringValue());
  }

  private synchronized void get(HttpServerRequest request, String name) {
    ObjectNode pod = pods.get(name);
    if (pod == null) {
      status(request, 404, "pods \"" + name + "\" not found");
    } else {
      answer(request, 200, pod.toString());
    }
  }

  private synchronized void bind(HttpServerRequest request, String name, ObjectNode binding) {
    Fate fate = fates.apply(name);
    switch (fate) {
      case TOO_MANY -> status(request, 429, "too many requests");
      case REQUEST_LOST -> request.connection().close();
      case CHANGED -> {
        if (pods.containsKey(name)) {
          touch(name);
        }
        respond(request, write(name, binding));
      }
      case KEPT -> respond(request, write(name, binding));
      case ANSWER_LOST -> {
        write(name, binding);
        request.connection().close();
      }
      case ECHOED -> {
        write(name, binding);
        respond(request, write(name, binding));
      }
    }
  }

  private record Outcome(int code, String message) {}

  private void respond(HttpServerRequest request, Outcome outcome) {
    status(request, outcome.code(), outcome.message());
  }

  private Outcome write(String name, ObjectNode binding) {
    ObjectNode pod = pods.get(name);
    if (pod == null) {
      return new Outcome(404, "pods \"" + name + "\" not found");
    }
    JsonNode given = binding.path("metadata");
    ObjectNode meta = (ObjectNode) pod.get("metadata");
    if (given.has("uid") && !given.get("uid").equals(meta.get("uid"))) {
      return new Outcome(409, "Precondition failed: UID in precondition");
    }
    if (given.has("resourceVersion")
        && !given.get("resourceVersion").equals(meta.get("resourceVersion"))) {
      return new Outcome(409, "Precondition failed: ResourceVersion in precondition");
    }
    ObjectNode spec = (ObjectNode) pod.get("spec");
    if (spec.has("nodeName")) {
      return new Outcome(
          409, "pod " + name + " is already assigned to node " + spec.get("nodeName"));
    }
    spec.set("nodeName", binding.path("target").path("name"));
    ObjectNode annotations = (ObjectNode) meta.get("annotations");
    for (Map.Entry<String, JsonNode> e : given.path("annotations").properties()) {
      annotations.set(e.getKey(), e.getValue());
    }
    changed("pods", "MODIFIED", pod);
    onBound.forEach(l -> l.accept(pod));
    return new Outcome(201, "");
  }

  private static void status(HttpServerRequest request, int code, String message) {
    ObjectNode status = JSON.createObjectNode();
    status.put("kind", "Status").put("apiVersion", "v1").put("code", code).put("message", message);
    status.put("status", code < 400 ? "Success" : "Failure");
    answer(request, code, status.toString());
  }

  private static void answer(HttpServerRequest request, int code, String body) {
    Future<Void> sent =
        request
            .response()
            .setStatusCode(code)
            .putHeader("Content-Type", "application/json")
            .end(body);
    sent.onFailure(gone -> request.connection().close());
  }

  /** Names of all nodes. */
  public synchronized List<String> nodeNames() {
    return new ArrayList<>(nodes.keySet());
  }

  @Override
  public void close() {
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }
}
