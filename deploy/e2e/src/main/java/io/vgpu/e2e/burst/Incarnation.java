package io.vgpu.e2e.burst;

import io.vgpu.model.PodClaim;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Everything that was seen of one pod, by its UID: several may bear one name, one after the other.
 * Written by {@link PodHistory} alone; safe for several threads.
 */
final class Incarnation {
  private final int order;
  private final List<String> story = new ArrayList<>();
  private PodFact last;
  private Optional<PodClaim> claim = Optional.empty();
  private Optional<Long> failedAtMs = Optional.empty();
  private Optional<Long> deletedAtMs = Optional.empty();
  private Optional<Long> boundAtMs = Optional.empty();
  private boolean marked;
  private boolean succeeded;

  Incarnation(int order, PodFact first) {
    this.order = order;
    this.last = first;
  }

  synchronized void accept(PodFact fact, boolean deleted, long atMs) {
    if (story.isEmpty() || !fact.line().equals(last.line()) || deleted) {
      story.add(
          String.format(
              Locale.ROOT, "%8.3f s  %s%s", atMs / 1e3, deleted ? "gone; was " : "", fact.line()));
    }
    if (claim.isEmpty() && fact.claim().isPresent()) {
      story.add(String.format(Locale.ROOT, "%8.3f s  claim %s", atMs / 1e3, fact.claim().get()));
    }
    last = fact;
    marked |= fact.marked();
    succeeded |= fact.succeeded();
    if (fact.failed() && failedAtMs.isEmpty()) {
      failedAtMs = Optional.of(atMs);
    }
    if (fact.node().isPresent() && boundAtMs.isEmpty()) {
      boundAtMs = Optional.of(atMs);
    }
    if (deleted) {
      deletedAtMs = Optional.of(atMs);
    }
  }

  synchronized void claimed(PodClaim decoded) {
    claim = Optional.of(decoded);
  }

  /** Its place among all pods in the order in which they were first seen. */
  int order() {
    return order;
  }

  synchronized String uid() {
    return last.uid();
  }

  synchronized String name() {
    return last.name();
  }

  /** The latest state that was seen. */
  synchronized PodFact last() {
    return last;
  }

  /** Its claim, decoded, once it has one. */
  synchronized Optional<PodClaim> claim() {
    return claim;
  }

  /** The moment at which it was first seen Failed. */
  synchronized Optional<Long> failedAtMs() {
    return failedAtMs;
  }

  synchronized Optional<Long> boundAtMs() {
    return boundAtMs;
  }

  /** The moment at which it was gone from the API. */
  synchronized Optional<Long> deletedAtMs() {
    return deletedAtMs;
  }

  synchronized boolean succeeded() {
    return succeeded;
  }

  /** Whether it failed, or was marked as refused, so that somebody may take its place. */
  synchronized boolean troubled() {
    return failedAtMs.isPresent() || marked;
  }

  /** Whether it failed because its kubelet was killed at a bad moment: that is its end. */
  synchronized boolean brokenOff() {
    return last.failed() && last.brokenOff() && !marked && last.reason().isEmpty();
  }

  /** Whether it holds what it claims: bound, not at its end, not gone. */
  synchronized boolean holds() {
    return deletedAtMs.isEmpty() && last.node().isPresent() && !last.terminal();
  }

  /** What happened to it, line by line. */
  synchronized List<String> story() {
    return List.copyOf(story);
  }
}
