package io.vgpu.agent.gpu;

/** A driver call failed: which call, with which code of the driver. */
public final class GpuDriverException extends RuntimeException {
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

  /** The driver's return code. */
  public int code() {
    return code;
  }
}
