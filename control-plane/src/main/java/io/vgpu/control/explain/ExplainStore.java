package io.vgpu.control.explain;

import java.time.Instant;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The last decision about each pod, whichever extender made it. Bounded in pods and in characters;
 * what was told longest ago goes first. Any thread.
 */
public final class ExplainStore {
  static final int MOST = 4096;
  static final long MOST_CHARS = 16L * 1024 * 1024;

  private final Map<String, Kept> byName = new LinkedHashMap<>();
  private final int most;
  private final long mostChars;
  private long chars;

  private record Kept(Instant at, String json) {}

  public ExplainStore() {
    this(MOST, MOST_CHARS);
  }

  ExplainStore(int most, long mostChars) {
    this.most = most;
    this.mostChars = mostChars;
  }

  /** Takes a decision of {@code at}, unless a later one about that pod is known. */
  public synchronized void put(String namespace, String pod, Instant at, String json) {
    String key = key(namespace, pod);
    Kept before = byName.get(key);
    if (json.length() > mostChars || (before != null && before.at().isAfter(at))) {
      return;
    }
    if (before != null) {
      byName.remove(key); // to the end
      chars -= before.json().length();
    }
    byName.put(key, new Kept(at, json));
    chars += json.length();
    Iterator<Kept> eldest = byName.values().iterator();
    while (byName.size() > most || chars > mostChars) {
      chars -= eldest.next().json().length();
      eldest.remove();
    }
  }

  /** The decision about a pod, JSON. */
  public synchronized Optional<String> find(String namespace, String pod) {
    return Optional.ofNullable(byName.get(key(namespace, pod))).map(Kept::json);
  }

  /** About how many pods something is known. */
  public synchronized int size() {
    return byName.size();
  }

  private static String key(String namespace, String pod) {
    return namespace + "/" + pod;
  }
}
