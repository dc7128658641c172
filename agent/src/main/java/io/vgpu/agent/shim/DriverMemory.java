package io.vgpu.agent.shim;

/**
 * What the driver says of a container's memory on a card ({@code load} in abi.h), in bytes.
 *
 * @param listedBytes of its processes together; 0: not known, or none
 * @param contextBytes what a process takes beside what it was charged
 * @param contextSample grows with each measurement of that; 0: there was none
 */
public record DriverMemory(long listedBytes, long contextBytes, int contextSample) {
  public static final DriverMemory NONE = new DriverMemory(0, 0, 0);
}
