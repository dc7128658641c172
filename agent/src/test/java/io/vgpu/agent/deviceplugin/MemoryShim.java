package io.vgpu.agent.deviceplugin;

import io.vertx.core.Future;
import io.vgpu.agent.shim.DeviceLimits;
import io.vgpu.agent.shim.ShimWriter;
import io.vgpu.model.ContainerRef;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Region files as a table. */
final class MemoryShim implements ShimWriter {
  final Map<Owner, List<DeviceLimits>> files = new ConcurrentHashMap<>();
  final Map<Owner, AtomicInteger> resets = new ConcurrentHashMap<>();
  volatile boolean broken;

  @Override
  public Future<ShimFiles> attach(ContainerRef container, List<DeviceLimits> devices) {
    if (broken) {
      return Future.failedFuture(new java.io.IOException("no space left"));
    }
    files.put(owner(container), List.copyOf(devices));
    Path dir = Path.of("/host/etc", container.pod().uid() + "_" + container.container());
    Path tmp = Path.of("/host/run", container.pod().uid() + "_" + container.container());
    return Future.succeededFuture(
        new ShimFiles(dir, tmp.resolve("usage"), tmp.resolve("usage.lock")));
  }

  @Override
  public Future<Boolean> carries(ContainerRef container, List<DeviceLimits> devices) {
    return Future.succeededFuture(devices.equals(files.get(owner(container))));
  }

  @Override
  public Future<Void> resetUsage(ContainerRef container) {
    resets.computeIfAbsent(owner(container), o -> new AtomicInteger()).incrementAndGet();
    return Future.succeededFuture();
  }

  @Override
  public Future<Void> release(String podUid, String container) {
    files.remove(new Owner(podUid, container));
    return Future.succeededFuture();
  }

  @Override
  public Future<Void> letGo() {
    return Future.succeededFuture();
  }

  @Override
  public Future<Set<Owner>> owners() {
    return Future.succeededFuture(Set.copyOf(new LinkedHashMap<>(files).keySet()));
  }

  List<DeviceLimits> of(String uid, String container) {
    return files.getOrDefault(new Owner(uid, container), List.of());
  }

  private static Owner owner(ContainerRef c) {
    return new Owner(c.pod().uid(), c.container());
  }
}
