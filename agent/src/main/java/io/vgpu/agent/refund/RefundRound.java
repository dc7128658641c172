package io.vgpu.agent.refund;

import io.vgpu.agent.gpu.CardSample;
import io.vgpu.agent.gpu.CardSamples;
import io.vgpu.agent.gpu.PhysicalGpu;
import io.vgpu.agent.posix.Futex;
import io.vgpu.agent.shim.DeviceLimits;
import io.vgpu.agent.shim.OpenContainer;
import io.vgpu.agent.shim.UsageCopy;
import io.vgpu.model.GpuUuid;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One round over all cards and containers of the node: reads {@code usage}, writes {@code load},
 * wakes sleepers (D9, D11, D23). Cards with two or more active processes are looked at when {@link
 * NextLook} says, others when {@link #SLOW_NS} have passed; so are, on every card, containers in
 * which no process has registered yet, since one that comes takes longer to its first kernel. Lane
 * {@code regions}.
 */
final class RefundRound {
  private static final Logger log = LoggerFactory.getLogger(RefundRound.class);

  static final long SLOW_NS = 100_000_000;
  static final long SLACK_NS = 2_000_000; // a timer's

  private final Map<GpuUuid, PhysicalGpu> gpus;
  private final CardSamples samples;
  private final Futex futex;
  private final LongSupplier nanoTime;
  private final RefundMeters meters;
  private final Map<GpuUuid, CardRefunds> cards = new HashMap<>(); // no more than the node has
  private final Set<OpenContainer> unreadable = new HashSet<>();
  private final List<Placed> placed = new ArrayList<>();
  private Collection<OpenContainer> known = List.of(); // at the last round
  private long names;

  /** A card with containers. */
  private record Placed(GpuUuid uuid, int index, CardRefunds refunds) {}

  /** {@code nanoTime}: CLOCK_MONOTONIC of the host. */
  RefundRound(
      List<PhysicalGpu> gpus,
      CardSamples samples,
      Futex futex,
      LongSupplier nanoTime,
      RefundMeters meters) {
    this.gpus = new HashMap<>();
    gpus.forEach(g -> this.gpus.put(g.uuid(), g));
    this.samples = samples;
    this.futex = futex;
    this.nanoTime = nanoTime;
    this.meters = meters;
  }

  /** Returns after how many nanoseconds the next round should be. */
  long run(Collection<OpenContainer> containers) {
    long now = nanoTime.getAsLong();
    place(containers);
    long next = now + SLOW_NS;
    for (Placed at : placed) {
      CardRefunds card = at.refunds();
      if (card.lastNs() == 0 || now >= card.nextNs() - SLACK_NS) {
        boolean all = !card.isShared() || now - card.lastOfAllNs() >= SLOW_NS - SLACK_NS;
        card.look(c -> copy(c, all, now), cardPermille(at.uuid()), now, this::wake);
        if (all) {
          card.lookedAtAll(now);
        }
        meters.count(at.index(), card.ledger());
      }
      next = Math.min(next, card.nextNs());
    }
    return next - now;
  }

  /** Nothing as long as the same containers have the same cards. */
  @SuppressWarnings("ReferenceEquality") // that is what the collection's identity says
  private void place(Collection<OpenContainer> containers) {
    if (containers == known) {
      return;
    }
    known = containers;
    placed.clear();
    byCard(containers)
        .forEach(
            (uuid, here) -> {
              CardRefunds card = cards.computeIfAbsent(uuid, u -> new CardRefunds(modelOf(u)));
              card.attend(here, () -> ++names);
              placed.add(new Placed(uuid, indexOf(uuid), card));
            });
    unreadable.retainAll(containers);
  }

  private static Map<GpuUuid, Map<OpenContainer, Integer>> byCard(
      Collection<OpenContainer> containers) {
    Map<GpuUuid, Map<OpenContainer, Integer>> byCard = new LinkedHashMap<>();
    for (OpenContainer c : containers) {
      List<DeviceLimits> devices = c.devices();
      for (int i = 0; i < devices.size(); i++) {
        byCard.computeIfAbsent(devices.get(i).uuid(), u -> new LinkedHashMap<>()).put(c, i);
      }
    }
    return byCard;
  }

  /** Anew once a round; a container whose file is short says nothing new, but stays known. */
  private @Nullable UsageCopy copy(OpenContainer container, boolean all, long nowNs) {
    try {
      UsageCopy usage = container.usage();
      if (!all && usage.nobodyCame()) {
        return usage; // as it was
      }
      if (!usage.refresh(nowNs)) {
        complain(container, "shorter than it must be");
      } else if (!unreadable.isEmpty()) {
        unreadable.remove(container);
      }
      return usage;
    } catch (IOException e) {
      complain(container, e.toString());
      return null;
    }
  }

  /** One line until it is well again. */
  private void complain(OpenContainer container, String why) {
    if (unreadable.add(container)) {
      log.warn("usage not read [container: {}, cause: {}]", container.owner(), why);
    }
  }

  private void wake(OpenContainer container, int device) {
    futex.wakeAll(container.loadMapping(), OpenContainer.sleepWord(device));
  }

  private GpuModel modelOf(GpuUuid uuid) {
    PhysicalGpu gpu = gpus.get(uuid);
    return GpuModel.of(gpu == null ? "" : gpu.name());
  }

  private int indexOf(GpuUuid uuid) {
    PhysicalGpu gpu = gpus.get(uuid);
    return gpu == null ? -1 : gpu.index();
  }

  private OptionalInt cardPermille(GpuUuid uuid) {
    return samples
        .last(uuid)
        .map(CardSample::utilizationPercent)
        .filter(percent -> percent >= 0)
        .map(percent -> OptionalInt.of(percent * 10))
        .orElse(OptionalInt.empty());
  }
}
