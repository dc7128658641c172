package io.vgpu.agent.memory;

import io.vgpu.agent.cgroup.HostProcess;
import io.vgpu.agent.measure.Listings;
import io.vgpu.agent.shim.Abi;
import io.vgpu.agent.shim.DriverMemory;
import io.vgpu.agent.shim.OpenContainer;
import io.vgpu.agent.shim.ShimWriter.Owner;
import io.vgpu.agent.shim.UsageCopy;
import io.vgpu.model.GpuUuid;
import java.io.IOException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Measures what contexts take (cuda-shim.md 4.3, 4.7): the driver's list of a card between two
 * looks at what its containers were charged. Only a container whose slots say the same at both
 * looks is measured: then nothing was given or taken back while the driver was asked, but for a
 * call that was on its way all the time, and such ones the window leaves out. Containers with more
 * processes than have rings keep the default. Lane {@code regions}.
 */
final class ContextLooks {
  private static final long PAGE_MASK = Abi.PAGE_BYTES - 1L;

  /** A card of a container. */
  record Place(Owner owner, int device) {}

  private final Listings listings;
  private final LongSupplier nanoTime;
  private final Map<Place, ContextWindow> windows = new HashMap<>(); // of attached containers only

  ContextLooks(Listings listings, LongSupplier nanoTime) {
    this.listings = listings;
    this.nanoTime = nanoTime;
  }

  /** What is charged now, by card; cards on which nobody has a context are left out. */
  Map<GpuUuid, Map<Place, SlotSum>> before(Collection<OpenContainer> containers) {
    Set<Owner> present =
        containers.stream().map(OpenContainer::owner).collect(Collectors.toUnmodifiableSet());
    windows.keySet().removeIf(place -> !present.contains(place.owner()));
    Map<GpuUuid, Map<Place, SlotSum>> sums = new HashMap<>();
    for (OpenContainer c : containers) {
      for (int i = 0; i < c.devices().size(); i++) {
        Optional<SlotSum> sum = slots(c, i);
        if (sum.isPresent() && sum.get().contexts() > 0) {
          sums.computeIfAbsent(c.devices().get(i).uuid(), u -> new HashMap<>())
              .put(new Place(c.owner(), i), sum.get());
        } else if (c.memory(i).listedBytes() != 0) {
          listed(c, i, 0); // its last context went
        }
      }
    }
    return sums;
  }

  /** Compares; {@code before} is of the card of {@code list}. Returns how many were measured. */
  int after(Map<Place, SlotSum> before, DriverList list, Collection<OpenContainer> containers) {
    int measured = 0;
    for (OpenContainer c : containers) {
      for (int i = 0; i < c.devices().size(); i++) {
        SlotSum then = before.get(new Place(c.owner(), i));
        if (then != null) {
          DriverList.Sum sum = list.of(isOf(c, c.devices().get(i).uuid(), containers));
          if (sum.bytes().isPresent()) {
            listed(c, i, sum.bytes().getAsLong());
            if (sum.processes() > 0) { // none of those with contexts: their pids are not found
              listings.put(c.owner(), i, sum.bytes().getAsLong(), nanoTime.getAsLong());
            }
            measured += compare(c, i, then, sum) ? 1 : 0;
          }
        }
      }
    }
    return measured;
  }

  private boolean compare(OpenContainer c, int device, SlotSum then, DriverList.Sum sum) {
    // fewer than have contexts: one has ended or is about to begin, and its slot speaks of both
    if (!then.comparable()
        || sum.processes() < then.contexts()
        || !slots(c, device).equals(Optional.of(then))) {
      return false;
    }
    OptionalLong figure =
        windows
            .computeIfAbsent(new Place(c.owner(), device), p -> new ContextWindow())
            .add(then, sum.bytes().orElse(0));
    figure.ifPresent(
        bytes -> {
          DriverMemory known = c.memory(device);
          int next = known.contextSample() + 1;
          c.memory(
              device,
              new DriverMemory(
                  known.listedBytes(), (bytes + PAGE_MASK) & ~PAGE_MASK, next == 0 ? 1 : next));
        });
    return true;
  }

  private static void listed(OpenContainer c, int device, long bytes) {
    DriverMemory known = c.memory(device);
    c.memory(device, new DriverMemory(bytes, known.contextBytes(), known.contextSample()));
  }

  /**
   * Whether a process is this container's. Where it is the only one of its pod that was given the
   * card, the pod says enough: a status with the id comes later than the process.
   */
  private Predicate<Attribution.Whose> isOf(
      OpenContainer c, GpuUuid card, Collection<OpenContainer> all) {
    String pod = c.owner().podUid();
    boolean alone =
        all.stream()
            .filter(o -> o.owner().podUid().equals(pod))
            .allMatch(o -> o == c || o.devices().stream().noneMatch(d -> d.uuid().equals(card)));
    if (alone) {
      return owner -> owner.podUid().equals(pod);
    }
    return owner ->
        owner.podUid().equals(pod)
            && owner
                .container()
                .map(c.owner().container()::equals)
                .orElseGet(() -> owner.inside().filter(p -> hasSlotOf(c, p)).isPresent());
  }

  private static boolean hasSlotOf(OpenContainer c, HostProcess process) {
    try {
      return c.usage().refresh()
          && SlotOwner.isAmong(c.usage(), process.innerPid(), process.startTime());
    } catch (IOException e) {
      return false; // the refund round says why
    }
  }

  private static Optional<SlotSum> slots(OpenContainer c, int device) {
    try {
      UsageCopy usage = c.usage();
      return usage.refresh() && Integer.compareUnsigned(usage.highWater(), Abi.RING_SLOTS) <= 0
          ? Optional.of(SlotSum.of(usage, device))
          : Optional.empty();
    } catch (IOException e) {
      return Optional.empty(); // the refund round says why
    }
  }
}
