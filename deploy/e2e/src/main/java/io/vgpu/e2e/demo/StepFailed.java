package io.vgpu.e2e.demo;

/** A step of the demo does not show what it promises. */
final class StepFailed extends RuntimeException {
  private final String step;

  StepFailed(String step, String reason) {
    super(reason);
    this.step = step;
  }

  String step() {
    return step;
  }
}
