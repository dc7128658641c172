package io.vgpu.runtime;

/** A lane has as much waiting as it may; the caller says what that means for its own caller. */
public final class LaneFullException extends RuntimeException {
  public LaneFullException(String lane, int queueMax) {
    super("lane " + lane + " is full: " + queueMax + " calls are waiting");
  }
}
