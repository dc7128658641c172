package io.vgpu.agent.gpu;

/** A driver call failed: which call, with which code of the driver. */
public final class GpuDriverException extends RuntimeException {
  private static final int GPU_IS_LOST = 15;
  private static final int RESET_REQUIRED = 16;

  private final String call;
  private final int code;

  public GpuDriverException(String call, int code, String text) {
    super(call + " failed with code " + code + " (" + text + ")");
    this.call = call;
    this.code = code;
  }

  /** The driver's function, e.g. {@code nvmlDeviceGetCount_v2}. */
  public String call() {
    return call;
  }

  /** Whether a card has fallen off the bus. */
  public boolean isGpuLost() {
    return code == GPU_IS_LOST;
  }

  /** Whether the driver says that nothing but a reset or a reboot helps. */
  public boolean needsReset() {
    return code == GPU_IS_LOST || code == RESET_REQUIRED;
  }

  /** The driver's return code. */
  public int code() {
    return code;
  }
}
