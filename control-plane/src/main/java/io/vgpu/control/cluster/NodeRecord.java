package io.vgpu.control.cluster;

import static io.vgpu.model.Checks.check;

import org.jspecify.annotations.Nullable;

/**
 * What the scheduler needs of a Node object, and nothing more (control-plane.md 2.6).
 *
 * @param allocatable {@code status.allocatable} of the vgpu-number resource, 0 when absent
 * @param register text of {@code node-device-register}
 * @param config text of {@code node-config-info}
 * @param host allocatable CPU and memory
 * @param topology text of {@code node-device-topology}; null also where nobody looks at links
 * @param rails text of {@code node-gpu-domain}
 * @param cordon text of {@code device-cordon}
 */
public record NodeRecord(
    String name,
    long allocatable,
    @Nullable String register,
    @Nullable String config,
    Host host,
    @Nullable String topology,
    @Nullable String rails,
    @Nullable String cordon) {
  public NodeRecord {
    check(!name.isEmpty(), "node name must not be empty");
  }

  /** Of a node that does not say what CPU and memory it has. */
  public NodeRecord(
      String name, long allocatable, @Nullable String register, @Nullable String config) {
    this(name, allocatable, register, config, Host.PLENTY);
  }

  /** Of a node that publishes no links. */
  public NodeRecord(
      String name,
      long allocatable,
      @Nullable String register,
      @Nullable String config,
      Host host) {
    this(name, allocatable, register, config, host, null, null);
  }

  /** Of a node none of whose cards is cordoned. */
  public NodeRecord(
      String name,
      long allocatable,
      @Nullable String register,
      @Nullable String config,
      Host host,
      @Nullable String topology,
      @Nullable String rails) {
    this(name, allocatable, register, config, host, topology, rails, null);
  }

  /** The same with another text of {@code device-cordon}. */
  public NodeRecord cordoned(@Nullable String text) {
    return new NodeRecord(name, allocatable, register, config, host, topology, rails, text);
  }
}
