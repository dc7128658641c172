package io.vgpu.e2e.burst;

import io.vgpu.e2e.product.ContainerView;
import java.util.Optional;

/**
 * One start of one container, and what it has printed so far.
 *
 * @param run how often the container had been started before
 */
record Print(String uid, String pod, String container, int run, String text) {
  /** What it saw; empty when it had not printed everything. */
  Optional<ContainerView> view() {
    return ContainerView.parse(text);
  }
}
