package io.vgpu.agent.deviceplugin;

import io.vgpu.agent.deviceplugin.Ledger.Refusal;
import io.vgpu.agent.deviceplugin.PodEntry.Held;
import io.vgpu.agent.deviceplugin.PodEntry.Stage;
import io.vgpu.agent.deviceplugin.PodEntry.Turn;
import io.vgpu.agent.notes.Checkpoint;
import io.vgpu.claim.ClaimCodec;
import io.vgpu.claim.FormatException;
import io.vgpu.model.ContainerKind;
import io.vgpu.model.PodRef;
import io.vgpu.model.Reason;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The checkpoint's text: a first line with version and the SHA-256 of the second, a second line
 * with the {@link Ledger}. Pure; whatever else stands in a file is a {@link FormatException}.
 */
final class LedgerCodec {
  static final int VERSION = 1;
  static final int MAX_LENGTH = 64 << 20;
  static final Checkpoint.Codec<Ledger> CODEC =
      new Checkpoint.Codec<>(LedgerCodec::encode, LedgerCodec::decode, Ledger.EMPTY, MAX_LENGTH);
  private static final JsonMapper JSON =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(16)
                          .maxStringLength(1 << 20)
                          .build())
                  .build())
          .build();

  private LedgerCodec() {}

  static String encode(Ledger ledger) {
    ObjectNode root = JSON.createObjectNode();
    ArrayNode pods = root.putArray("pods");
    ledger.pods().values().forEach(e -> write(pods.addObject(), e));
    ArrayNode refused = root.putArray("refused");
    for (Refusal r : ledger.refused().values()) {
      ObjectNode o = refused.addObject();
      write(o, r.pod());
      o.put("reason", r.reason().code());
      o.put("detail", r.detail());
    }
    String state = root.toString();
    ObjectNode head = JSON.createObjectNode();
    head.put("version", VERSION);
    head.put("sha256", sha256(state));
    return head + "\n" + state + "\n";
  }

  private static void write(ObjectNode o, PodRef pod) {
    o.put("uid", pod.uid());
    o.put("namespace", pod.namespace());
    o.put("name", pod.name());
  }

  private static void write(ObjectNode o, PodEntry e) {
    write(o, e.pod());
    o.put("claim", ClaimCodec.encode(e.claim()));
    o.put("seal", e.seal());
    o.put("policy", e.policy());
    o.put("latency", e.latency());
    o.put("ended", e.ended());
    ArrayNode order = o.putArray("order");
    for (Turn t : e.order()) {
      ObjectNode turn = order.addObject();
      turn.put("container", t.container());
      turn.put("kind", t.kind().name());
      turn.put("number", t.number());
    }
    ObjectNode held = o.putObject("held");
    e.held()
        .forEach(
            (container, h) -> {
              ObjectNode one = held.putObject(container);
              one.put("stage", h.stage().name());
              one.put("asked", h.asked());
              one.put("library", h.library());
              ArrayNode ids = one.putArray("ids");
              h.ids().stream().sorted().forEach(ids::add);
            });
  }

  static Ledger decode(String text) {
    int newline = text.indexOf('\n');
    if (newline < 0
        || newline == text.length() - 1
        || !text.endsWith("\n")
        || text.length() > MAX_LENGTH) {
      throw new FormatException(
          "checkpoint of " + text.length() + " characters: must be two whole lines");
    }
    String state = text.substring(newline + 1, text.length() - 1);
    try {
      JsonNode head = JSON.readTree(text.substring(0, newline));
      if (head.path("version").asInt(0) != VERSION) {
        throw new FormatException(
            "checkpoint version " + head.path("version") + ": only " + VERSION + " is known");
      }
      if (!sha256(state).equals(string(head, "sha256"))) {
        throw new FormatException("checkpoint: sha256 does not match its content");
      }
      return ledger(JSON.readTree(state));
    } catch (JacksonException e) {
      throw new FormatException("checkpoint: not JSON: " + e.getOriginalMessage(), e);
    } catch (FormatException e) {
      throw e;
    } catch (IllegalArgumentException e) {
      throw new FormatException("checkpoint: " + e.getMessage(), e);
    }
  }

  private static Ledger ledger(JsonNode root) {
    Map<String, PodEntry> pods = new LinkedHashMap<>();
    for (JsonNode o : array(root, "pods")) {
      PodEntry e = entry(o);
      pods.put(e.pod().uid(), e);
    }
    Map<String, Refusal> refused = new LinkedHashMap<>();
    for (JsonNode o : array(root, "refused")) {
      Refusal r = new Refusal(pod(o), reason(string(o, "reason")), string(o, "detail"));
      refused.put(r.pod().uid(), r);
    }
    return new Ledger(pods, refused);
  }

  private static PodEntry entry(JsonNode o) {
    List<Turn> order = new ArrayList<>();
    for (JsonNode t : array(o, "order")) {
      order.add(
          new Turn(
              string(t, "container"),
              ContainerKind.valueOf(string(t, "kind")),
              t.path("number").asLong(0)));
    }
    Map<String, Held> held = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> h : o.path("held").properties()) {
      Set<String> ids = new LinkedHashSet<>();
      for (JsonNode id : array(h.getValue(), "ids")) {
        if (!id.isString()) {
          throw new FormatException("checkpoint: device id " + id + ": must be a string");
        }
        ids.add(id.stringValue());
      }
      held.put(
          h.getKey(),
          new Held(
              ids,
              Stage.valueOf(string(h.getValue(), "stage")),
              h.getValue().path("asked").asBoolean(false),
              h.getValue().path("library").asString("")));
    }
    return new PodEntry(
        pod(o),
        ClaimCodec.decode(string(o, "claim")),
        string(o, "seal"),
        string(o, "policy"),
        o.path("latency").asBoolean(false), // older releases did not write it
        order,
        held,
        o.path("ended").asBoolean(false));
  }

  private static PodRef pod(JsonNode o) {
    return new PodRef(string(o, "namespace"), string(o, "name"), string(o, "uid"));
  }

  private static Reason reason(String code) {
    for (Reason r : Reason.values()) {
      if (r.code().equals(code)) {
        return r;
      }
    }
    return Reason.CLAIM_UNSATISFIABLE; // of a release that knew more reasons: for people only
  }

  private static JsonNode array(JsonNode o, String field) {
    JsonNode value = o.path(field);
    if (!value.isArray()) {
      throw new FormatException("checkpoint: " + field + ": must be a list");
    }
    return value;
  }

  private static String string(JsonNode o, String field) {
    JsonNode value = o.path(field);
    if (!value.isString()) {
      throw new FormatException("checkpoint: " + field + ": must be a string");
    }
    return value.stringValue();
  }

  private static String sha256(String text) {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(hash);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
