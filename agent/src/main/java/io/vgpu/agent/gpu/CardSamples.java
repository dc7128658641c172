package io.vgpu.agent.gpu;

import io.vgpu.model.GpuUuid;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The last sample of each card, and which cards do not answer; written by the sampler, read by any
 * thread.
 */
public final class CardSamples {
  private final Map<GpuUuid, CardSample> last = new ConcurrentHashMap<>();
  private final Map<GpuUuid, Boolean> suspects = new ConcurrentHashMap<>();

  private final Duration staleAfter;

  /** Samples count as the card's for some seconds. */
  public CardSamples() {
    this(Duration.ofSeconds(5));
  }

  /** {@code staleAfter}: for so long; longer than the sampler's interval. */
  public CardSamples(Duration staleAfter) {
    this.staleAfter = staleAfter;
  }

  /** The card's last sample unless it is too old: a card that answers no more has no load. */
  public Optional<CardSample> fresh(GpuUuid gpu, long nowNanos) {
    return last(gpu).filter(s -> nowNanos - s.nanoTime() <= staleAfter.toNanos());
  }

  /** The card's last sample, if it ever gave one. */
  public Optional<CardSample> last(GpuUuid gpu) {
    return Optional.ofNullable(last.get(gpu));
  }

  /** Whether a call on the card has not returned in time. */
  public boolean isSuspect(GpuUuid gpu) {
    return suspects.containsKey(gpu);
  }

  /** The sampler's news. */
  public void put(CardSample sample) {
    last.put(sample.gpu(), sample);
  }

  void suspect(GpuUuid gpu) {
    suspects.put(gpu, true);
  }

  void trust(GpuUuid gpu) {
    suspects.remove(gpu);
  }
}
