package io.vgpu.agent.deviceplugin;

import io.vgpu.model.PodRef;
import io.vgpu.model.Reason;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Which ids belong to which container, and which pods were refused: the agent's own memory, kept in
 * the {@link io.vgpu.agent.notes.Checkpoint}. Immutable: a change is made, written, and only then
 * taken as true.
 */
record Ledger(Map<String, PodEntry> pods, Map<String, Refusal> refused) {
  /** A node has a few hundred pods at most; beyond this something is wrong, not busy. */
  static final int MAX_PODS = 4096;

  static final int MAX_REFUSED = 1024;
  static final Ledger EMPTY = new Ledger(Map.of(), Map.of());

  /** A pod that this agent refused while it was admitted. */
  record Refusal(PodRef pod, Reason reason, String detail) {}

  Ledger {
    pods = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(pods));
    LinkedHashMap<String, Refusal> bounded = new LinkedHashMap<>(refused);
    while (bounded.size() > MAX_REFUSED) {
      bounded.pollFirstEntry();
    }
    refused = java.util.Collections.unmodifiableMap(bounded);
  }

  Optional<PodEntry> entry(String uid) {
    return Optional.ofNullable(pods.get(uid));
  }

  Optional<Refusal> refusal(String uid) {
    return Optional.ofNullable(refused.get(uid));
  }

  boolean isRefused(String uid) {
    return refused.containsKey(uid);
  }

  /** Entries whose containers run or may come to run. */
  Collection<PodEntry> standing() {
    return pods.values().stream().filter(e -> !e.ended() && !isRefused(e.pod().uid())).toList();
  }

  /**
   * File names of the libraries that containers have mounted, or will at their next start; empty
   * when some container's is not known.
   */
  Optional<Set<String>> librariesInUse() {
    Set<String> libraries = new HashSet<>();
    for (PodEntry e : pods.values()) {
      for (PodEntry.Held h : e.held().values()) {
        if (!e.ended() && h.stage() == PodEntry.Stage.ATTACHED) {
          libraries.add(h.library());
        }
      }
    }
    return libraries.contains("") ? Optional.empty() : Optional.of(libraries);
  }

  /**
   * Whether a pod other than {@code uid} holds the id, by our records. A refused pod never gets
   * what it was only offered, but containers of it may run on what it got before: a kubelet that
   * restarts admits running pods anew.
   */
  boolean heldByAnother(String id, String uid) {
    return pods.values().stream()
        .filter(e -> !e.ended() && !e.pod().uid().equals(uid))
        .anyMatch(e -> isRefused(e.pod().uid()) ? e.runsOn(id) : e.holds(id));
  }

  Ledger with(PodEntry entry) {
    Map<String, PodEntry> more = new LinkedHashMap<>(pods);
    more.put(entry.pod().uid(), entry);
    return new Ledger(more, refused);
  }

  Ledger withRefusal(Refusal refusal) {
    Map<String, Refusal> more = new LinkedHashMap<>(refused);
    more.remove(refusal.pod().uid());
    more.put(refusal.pod().uid(), refusal);
    return new Ledger(pods, more);
  }

  /** The same without these pods, refused or not. */
  Ledger without(Set<String> uids) {
    Map<String, PodEntry> fewer = new LinkedHashMap<>(pods);
    fewer.keySet().removeAll(uids);
    Map<String, Refusal> fewerRefused = new LinkedHashMap<>(refused);
    fewerRefused.keySet().removeAll(uids);
    return new Ledger(fewer, fewerRefused);
  }

  /** Pods that are over give up their ids. */
  Ledger withEnded(Predicate<PodEntry> over) {
    Map<String, PodEntry> more = new LinkedHashMap<>(pods);
    more.replaceAll((uid, e) -> !e.ended() && over.test(e) ? e.asEnded() : e);
    return new Ledger(more, refused);
  }
}
