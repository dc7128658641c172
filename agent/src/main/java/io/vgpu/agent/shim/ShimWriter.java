package io.vgpu.agent.shim;

import io.vertx.core.Future;
import io.vgpu.model.ContainerRef;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/**
 * The one writer of containers' regions (D7, D16). Futures complete on the caller's context; a
 * failure means that nothing a container could read is half written.
 */
public interface ShimWriter {
  /** Host paths of a container's files, as mounted (node-agent.md 1.8). */
  record ShimFiles(Path directory, Path usage, Path usageLock) {}

  /**
   * Makes a container's directory, {@code limits}, {@code load}, {@code usage} and {@code
   * usage.lock}, complete before the container exists. Idempotent: the same limits again change
   * nothing, other limits for the same container replace them.
   */
  Future<ShimFiles> attach(ContainerRef container, List<DeviceLimits> devices);

  /** Whether the container's {@code limits} carries exactly these entries. */
  Future<Boolean> carries(ContainerRef container, List<DeviceLimits> devices);

  /** Zeroes {@code usage} in place with a new writer epoch, before a (re)start of the container. */
  Future<Void> resetUsage(ContainerRef container);

  /** Removes a container's files; absent ones are no failure. */
  Future<Void> release(String podUid, String container);

  /** Unmaps every region: this process writes none of them any more, another one may. */
  Future<Void> letGo();

  /** Every (pod UID, container) that has files here. */
  Future<Set<Owner>> owners();

  /** Whose files a directory holds. */
  record Owner(String podUid, String container) {
    static Owner of(ContainerRef container) {
      return new Owner(container.pod().uid(), container.container());
    }
  }
}
