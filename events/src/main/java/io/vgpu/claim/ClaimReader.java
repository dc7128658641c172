package io.vgpu.claim;

import io.vgpu.model.ContainerClaim;
import io.vgpu.model.PodClaim;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Reads a pod's allocation; only what our scheduler sealed for just this pod counts (D5). Pure. */
public final class ClaimReader {
  private final Supplier<ClaimSeal> seal;

  /** What a pod's annotations hold. */
  public sealed interface Reading {
    /** A claim whose every entry is sealed for this pod. */
    record Sealed(PodClaim claim) implements Reading {}

    /** No claim that counts; {@code why} is for people. */
    record Nothing(String why) implements Reading {}
  }

  /** {@code seal}: the keys as they are now. */
  public ClaimReader(Supplier<ClaimSeal> seal) {
    this.seal = seal;
  }

  /**
   * Reads the annotations with the claim and with its seal, as the pod of this UID carries them;
   * never fails.
   */
  public Reading read(String podUid, @Nullable String text, @Nullable String proof) {
    if (text == null || text.isBlank()) {
      return new Reading.Nothing("it carries no allocation");
    }
    if (proof == null || proof.isBlank()) {
      return new Reading.Nothing("its allocation is not sealed");
    }
    PodClaim claim;
    try {
      claim = ClaimCodec.decode(text);
    } catch (FormatException e) {
      return new Reading.Nothing("its allocation cannot be read: " + e.getMessage());
    }
    for (ContainerClaim c : claim.containers()) {
      if (!seal.get().verify(podUid, c, proof)) {
        return new Reading.Nothing("the seal of container " + c.container() + " does not fit");
      }
    }
    return new Reading.Sealed(claim);
  }
}
