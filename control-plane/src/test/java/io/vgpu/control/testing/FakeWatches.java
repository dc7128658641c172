package io.vgpu.control.testing;

import io.vertx.core.http.ServerWebSocket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Those who watch a fake API server, each over a web socket. Any thread. */
final class FakeWatches {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final List<Watcher> watchers = new CopyOnWriteArrayList<>();

  private record Watcher(String kind, ServerWebSocket socket) {}

  /** Tells a new watcher of what it has missed, then of everything. */
  void begin(String kind, ServerWebSocket socket, List<ObjectNode> missed) {
    Watcher watcher = new Watcher(kind, socket);
    socket.closeHandler(v -> watchers.remove(watcher));
    missed.forEach(o -> socket.writeTextMessage(event("MODIFIED", o)));
    watchers.add(watcher);
  }

  void tell(String kind, String type, JsonNode object) {
    String text = event(type, object);
    watchers.stream()
        .filter(w -> w.kind().equals(kind))
        .forEach(w -> w.socket().writeTextMessage(text));
  }

  /** Ends every watch; the clients come again. */
  void breakAll() {
    watchers.forEach(w -> w.socket().close());
  }

  private static String event(String type, JsonNode o) {
    return JSON.createObjectNode().put("type", type).set("object", o).toString();
  }
}
