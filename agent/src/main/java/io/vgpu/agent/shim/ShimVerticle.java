package io.vgpu.agent.shim;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vgpu.model.ContainerRef;
import io.vgpu.runtime.Lane;
import java.time.Clock;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The single writer of containers' regions: disk work on lane {@code files}, mapped memory on lane
 * {@code regions} (D16). Calls may come from any context. Two calls for one container must not
 * overlap: the second is refused.
 */
public final class ShimVerticle extends VerticleBase implements ShimWriter, RegionRounds {
  private final ShimPaths paths;
  private final Lane filesLane;
  private final Lane regionsLane;
  private final RegionFiles files;
  private final OpenRegions regions;
  private final Clock clock;
  private final long processEpoch;
  private final AtomicLong lastEpoch;
  private final Set<Owner> busy = ConcurrentHashMap.newKeySet();

  /**
   * {@code bootIdHash} from {@link ShimFolders#prepare}, which has made M and T; {@code written} is
   * told the name of each file that was written.
   */
  public ShimVerticle(
      ShimPaths paths,
      long bootIdHash,
      Lane filesLane,
      Lane regionsLane,
      Clock clock,
      Consumer<String> written) {
    this.paths = paths;
    this.filesLane = filesLane;
    this.regionsLane = regionsLane;
    this.clock = clock;
    this.files = new RegionFiles(paths, bootIdHash, r -> written.accept(r.fileName()));
    this.regions = new OpenRegions(paths, r -> written.accept(r.fileName()));
    this.processEpoch = nanos(clock.instant());
    this.lastEpoch = new AtomicLong(processEpoch);
  }

  @Override
  public Future<ShimFiles> attach(ContainerRef container, List<DeviceLimits> devices) {
    Owner owner = Owner.of(container);
    List<DeviceLimits> wanted = List.copyOf(devices);
    return alone(
        owner,
        () ->
            run(filesLane, () -> files.make(owner, wanted, processEpoch))
                .compose(
                    v -> run(regionsLane, () -> regions.attach(container, wanted, processEpoch)))
                .map(
                    v ->
                        new ShimFiles(
                            paths.hostConfig(owner),
                            paths.usage(owner).resolve(Abi.USAGE_FILE),
                            paths.usage(owner).resolve(Abi.USAGE_LOCK_FILE))));
  }

  @Override
  public Future<Boolean> carries(ContainerRef container, List<DeviceLimits> devices) {
    Owner owner = Owner.of(container);
    List<DeviceLimits> wanted = List.copyOf(devices);
    return regionsLane.call(() -> regions.carries(owner, wanted));
  }

  @Override
  public Future<Void> resetUsage(ContainerRef container) {
    Owner owner = Owner.of(container);
    return alone(
        owner,
        () ->
            run(regionsLane, () -> regions.lastLook(owner))
                .compose(v -> run(filesLane, () -> files.resetUsage(owner, nextEpoch()))));
  }

  /**
   * Gives the files of a running container their size back (node-agent.md 1.8); fails when another
   * call for it is under way, which sees to them itself.
   */
  public Future<Void> setBack(Owner owner) {
    return alone(owner, () -> run(filesLane, () -> files.setBack(owner, nextEpoch())));
  }

  @Override
  public Future<Void> release(String podUid, String container) {
    Owner owner = new Owner(podUid, container);
    return alone(
        owner,
        () ->
            run(regionsLane, () -> regions.close(owner))
                .compose(v -> run(filesLane, () -> files.remove(owner))));
  }

  @Override
  public Future<Void> letGo() {
    return run(regionsLane, regions::closeAll);
  }

  @Override
  public Future<Set<Owner>> owners() {
    return filesLane.call(files::owners);
  }

  @Override
  public Future<Void> beforeFiguresGo(Consumer<OpenContainer> look) {
    return run(regionsLane, () -> regions.onLastLook(look));
  }

  @Override
  public <T> Future<T> round(Function<Collection<OpenContainer>, T> work) {
    return regionsLane.call(() -> work.apply(regions.all()));
  }

  private <T> Future<T> alone(Owner owner, Supplier<Future<T>> work) {
    if (!busy.add(owner)) {
      return Future.failedFuture(
          new IllegalStateException("another call for " + owner + " is under way"));
    }
    return work.get().onComplete(r -> busy.remove(owner));
  }

  /** Work that gives nothing back. */
  private interface Work {
    void run() throws Exception;
  }

  private static Future<Void> run(Lane lane, Work work) {
    Callable<Void> call =
        () -> {
          work.run();
          return null;
        };
    return lane.call(call);
  }

  /** Now, but never an epoch that was given before: a library must see that its file was reset. */
  private long nextEpoch() {
    return lastEpoch.accumulateAndGet(
        nanos(clock.instant()), (last, now) -> Math.max(last + 1, now));
  }

  private static long nanos(Instant now) {
    return Math.addExact(Math.multiplyExact(now.getEpochSecond(), 1_000_000_000L), now.getNano());
  }
}
