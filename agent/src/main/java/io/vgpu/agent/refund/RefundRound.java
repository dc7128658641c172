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
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One round over all cards and containers of the node: reads {@code usage}, writes {@code load},
 * wakes sleepers (D9, D11, D23). Cards with two or more active processes are looked at in every
 * round, others only when {@link #SLOW_NS} have passed; so are, on every card, containers in which
 * no process has registered yet, since one that comes takes longer to its first kernel. Lane {@code
 * regions}.
 */
final class RefundRound {
  private static final Logger log = LoggerFactory.getLogger(RefundRound.class);

  static final long SLOW_NS = 100_000_000;
  private static final long SLACK_NS = 2_000_000; // a timer's

  private final Map<GpuUuid, PhysicalGpu> gpus;
  private final CardSamples samples;
  private final Futex futex;
  private final LongSupplier nanoTime;
  private final RefundMeters meters;
  private final Map<GpuUuid, CardRefunds> cards = new HashMap<>(); // no more than the node has
  private final Set<OpenContainer> unreadable = new HashSet<>();
  private final List<Known> known = new ArrayList<>(); // in the order of the last round
  private Map<GpuUuid, Map<OpenContainer, Integer>> byCard = Map.of();
  private long names;

  /** A container as it was in the last round; it gets its cards after it is mapped. */
  private record Known(OpenContainer container, List<DeviceLimits> devices) {
    @SuppressWarnings("ReferenceEquality") // the same objects, or somebody changed them
    boolean is(OpenContainer other) {
      return container == other && devices == other.devices();
    }
  }

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

  /** Returns whether any card is shared, so that the next round should be soon. */
  boolean run(Collection<OpenContainer> containers) {
    long now = nanoTime.getAsLong();
    Map<GpuUuid, Map<OpenContainer, Integer>> byCard = placed(containers);
    Map<OpenContainer, UsageCopy> copies = new IdentityHashMap<>();
    boolean shared = false;
    for (Map.Entry<GpuUuid, Map<OpenContainer, Integer>> entry : byCard.entrySet()) {
      CardRefunds card =
          cards.computeIfAbsent(entry.getKey(), uuid -> new CardRefunds(modelOf(uuid)));
      if (card.isShared() || now - card.lastNs() >= SLOW_NS - SLACK_NS || card.lastNs() == 0) {
        if (card.attended() != entry.getValue()) {
          card.attend(entry.getValue(), () -> ++names);
        }
        boolean all = !card.isShared() || now - card.lastOfAllNs() >= SLOW_NS - SLACK_NS;
        entry.getValue().keySet().forEach(c -> copy(c, all, copies));
        if (all) {
          card.lookedAtAll(now);
        }
        card.look(copies, cardPermille(entry.getKey()), now, this::wake);
        meters.count(indexOf(entry.getKey()), card.ledger());
      }
      shared |= card.isShared();
    }
    return shared;
  }

  /** By card; the same maps as long as the same containers have the same cards. */
  private Map<GpuUuid, Map<OpenContainer, Integer>> placed(Collection<OpenContainer> containers) {
    boolean same = containers.size() == known.size();
    Iterator<Known> before = known.iterator();
    for (Iterator<OpenContainer> now = containers.iterator(); same && now.hasNext(); ) {
      OpenContainer c = now.next();
      same = before.next().is(c);
    }
    if (!same) {
      known.clear();
      containers.forEach(c -> known.add(new Known(c, c.devices())));
      byCard = byCard(containers);
      unreadable.retainAll(containers);
    }
    return byCard;
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

  /** At most once a round; a container whose file is short says nothing new, but stays known. */
  private void copy(OpenContainer container, boolean all, Map<OpenContainer, UsageCopy> copies) {
    if (copies.containsKey(container)) {
      return;
    }
    try {
      UsageCopy usage = container.usage();
      if (!all && usage.nobodyCame()) {
        copies.put(container, usage); // as it was
        return;
      }
      boolean whole = usage.refresh();
      copies.put(container, usage);
      if (whole) {
        unreadable.remove(container);
      } else {
        complain(container, "shorter than it must be");
      }
    } catch (IOException e) {
      complain(container, e.toString());
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
