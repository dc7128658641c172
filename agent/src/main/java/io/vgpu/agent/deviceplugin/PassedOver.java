package io.vgpu.agent.deviceplugin;

import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Who stood without devices at the last look and was not the one being admitted. The kubelet admits
 * one pod after the other, so in its present life it is past them: it skipped them while the
 * resource was not registered, or rejected them, and only its restart can bring them up again.
 * Replaced at each look, also before each registration, so that it never speaks of an earlier life.
 * In memory only, any thread.
 */
final class PassedOver {
  private volatile Set<String> uids = Set.of();

  /**
   * {@code waiting} stood without devices, {@code admitted} was answered; empty when nobody was.
   */
  void looked(Set<String> waiting, String admitted) {
    Set<String> left = new LinkedHashSet<>(waiting);
    left.remove(admitted);
    uids = Set.copyOf(left);
  }

  boolean contains(String uid) {
    return uids.contains(uid);
  }

  Set<String> uids() {
    return uids;
  }
}
