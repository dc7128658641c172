package io.vgpu.control.cluster;

import org.jspecify.annotations.Nullable;

/**
 * What the scheduler keeps of a Pod object: its request, and where it stands. A pod that has
 * nothing to do with vGPUs has no containers here; it counts on the host only.
 *
 * @param nodeName {@code spec.nodeName}, null while unbound
 * @param terminal phase Succeeded or Failed: its cards are free again (control-plane.md 3.4)
 * @param deleting has a deletion timestamp; it still counts until it is gone
 * @param claim text of {@code pre-allocated}, whoever wrote it
 * @param seal text of {@code claim-hmac}
 * @param createdMillis when the API server made it; 0 when unknown
 */
public record PodRecord(
    PodRequest request,
    @Nullable String nodeName,
    boolean terminal,
    boolean deleting,
    @Nullable String claim,
    @Nullable String seal,
    long createdMillis) {

  /** A pod of which nobody knows when it was made. */
  public PodRecord(
      PodRequest request,
      @Nullable String nodeName,
      boolean terminal,
      boolean deleting,
      @Nullable String claim,
      @Nullable String seal) {
    this(request, nodeName, terminal, deleting, claim, seal, 0);
  }

  /** The pod's UID, its only lasting identity. */
  public String uid() {
    return request.pod().uid();
  }
}
