package io.vgpu.runtime;

/**
 * A constant of a component's gate enum: name, stage and default are part of the user's surface
 * (U45, U46).
 */
public interface FeatureGate {
  /** How mature a gate is; {@code AllAlpha} and {@code AllBeta} switch whole stages. */
  enum Stage {
    ALPHA,
    BETA
  }

  /** The name on the command line, e.g. {@code HonorPreAllocatedDeviceIDs}. */
  String gateName();

  /** Its stage. */
  Stage stage();

  /** Its value when nobody says otherwise. */
  boolean onByDefault();

  /** What it does, in one line for the documentation. */
  String effect();
}
