package io.vgpu.agent.deviceplugin;

import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;

/**
 * What was seen of the kubelet in its present life. Changed while it asks and before each
 * registration, so that it never speaks of an earlier life. In memory only, any thread.
 */
final class KubeletLife {
  private final LongSupplier nanoTime;
  private Seen seen = Seen.NOTHING;

  KubeletLife(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  synchronized Seen seen() {
    return seen;
  }

  synchronized void changed(UnaryOperator<Seen> change) {
    seen = change.apply(seen);
  }

  long now() {
    return nanoTime.getAsLong();
  }
}
