package io.vgpu.model;

import static io.vgpu.model.Checks.check;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The claim of one container: its cards, each at most once. Order is the text's (by index, when our
 * scheduler wrote it).
 */
public record ContainerClaim(String container, List<DeviceClaim> devices) {
  /**
   * Devices per container: the request limit of control-plane.md 2.1 and the device slots of the
   * ABI.
   */
  public static final int MAX_DEVICES = 16;

  public ContainerClaim {
    check(
        ContainerName.isValid(container),
        "container name \"%s\": %s",
        container,
        ContainerName.RULE);
    devices = List.copyOf(devices);
    check(
        devices.size() <= MAX_DEVICES,
        "container %s claims %d devices: at most %d",
        container,
        devices.size(),
        MAX_DEVICES);
    Set<GpuUuid> seen = new HashSet<>();
    for (DeviceClaim d : devices) {
      check(seen.add(d.uuid()), "container %s claims card %s twice", container, d.uuid());
    }
  }

  /** The claimed cards, in claim order. */
  public List<GpuUuid> uuids() {
    return devices.stream().map(DeviceClaim::uuid).toList();
  }
}
