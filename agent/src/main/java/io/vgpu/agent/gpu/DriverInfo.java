package io.vgpu.agent.gpu;

/** Versions; {@code cudaVersion} is NVML's integer, e.g. 12080 for 12.8. */
public record DriverInfo(String driverVersion, String nvmlVersion, int cudaVersion) {
  public int cudaMajor() {
    return cudaVersion / 1000;
  }

  public int cudaMinor() {
    return cudaVersion % 1000 / 10;
  }
}
