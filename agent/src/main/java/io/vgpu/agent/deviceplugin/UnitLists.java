package io.vgpu.agent.deviceplugin;

import io.vgpu.agent.kubelet.KubeletTransport;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.NodeConfig;
import io.vgpu.runtime.UsageException;
import java.util.List;
import k8s.deviceplugin.v1beta1.Device;
import k8s.deviceplugin.v1beta1.ListAndWatchResponse;

/**
 * What the kubelet counts of {@code vgpu-cores} and {@code vgpu-memory}: one id for each percent
 * and each unit of a card that is not in MIG mode (node-agent.md 2.4). Which card serves a
 * container is the claim's; the ids only make the kubelet's sum. Pure.
 */
final class UnitLists {
  /** {@code Unhealthy}, the longer word, with its tag and length. */
  private static final int HEALTH_BYTES = 2 + DeviceList.UNHEALTHY.length();

  private static final int FIELD_HEAD_BYTES = 2;

  private UnitLists() {}

  static ListAndWatchResponse cores(List<GpuDevice> devices) {
    return list(devices, 0);
  }

  static ListAndWatchResponse memory(List<GpuDevice> devices, NodeConfig config) {
    return list(devices, Math.max(1, config.memoryFactor()));
  }

  /** {@code memoryFactor} 0: cores. */
  private static ListAndWatchResponse list(List<GpuDevice> devices, int memoryFactor) {
    ListAndWatchResponse.Builder list = ListAndWatchResponse.newBuilder();
    for (GpuDevice d : devices) {
      long units = units(d, memoryFactor);
      for (long n = 0; n < units; n++) {
        list.addDevices(
            Device.newBuilder()
                .setID(CompactId.of(d.id(), n))
                .setHealth(DeviceList.health(d.healthy())));
      }
    }
    return list.build();
  }

  private static long units(GpuDevice d, int memoryFactor) {
    if (d.mig() || d.id() > CompactId.MAX_GPU_INDEX) {
      return 0;
    }
    return memoryFactor == 0 ? d.core() : d.memory() / memoryFactor;
  }

  /**
   * Refuses what would never reach the kubelet: it takes messages of up to 4 MiB (weakness 13-27),
   * and with all units unhealthy the list is longest. Names flag, value and rule.
   */
  static void checkCoresFit(List<GpuDevice> devices, NodeConfig config) {
    long cores = bytes(devices, 0);
    if (cores > KubeletTransport.KUBELET_MAX_MESSAGE) {
      throw new UsageException(
          tooLong("--device-cores-scaling", config.coresScaling(), "vgpu-cores", cores)
              + "it must be smaller");
    }
  }

  /** The same of the memory's units; says the least factor that would do. */
  static void checkMemoryFits(List<GpuDevice> devices, NodeConfig config) {
    int factor = Math.max(1, config.memoryFactor());
    long bytes = bytes(devices, factor);
    if (bytes > KubeletTransport.KUBELET_MAX_MESSAGE) {
      int least = factor;
      while (bytes(devices, least) > KubeletTransport.KUBELET_MAX_MESSAGE) {
        least++;
      }
      throw new UsageException(
          tooLong("--device-memory-factor", factor, "vgpu-memory", bytes)
              + "it must be at least "
              + least
              + " on this node");
    }
  }

  private static String tooLong(String flag, Object value, String resource, long bytes) {
    return "%s: \"%s\" makes the list of %s %d bytes long, and the kubelet takes at most %d: "
        .formatted(flag, value, resource, bytes, KubeletTransport.KUBELET_MAX_MESSAGE);
  }

  /** The size of the list with every unit unhealthy, worked out without making it. */
  static long bytes(List<GpuDevice> devices, int memoryFactor) {
    long sum = 0;
    for (GpuDevice d : devices) {
      long units = units(d, memoryFactor);
      long n = 0;
      while (n < units) {
        int length = CompactId.length(d.id(), n);
        long end = Math.min(units, endOfLength(d.id(), n));
        sum += (end - n) * (FIELD_HEAD_BYTES + 2 + length + HEALTH_BYTES);
        n = end;
      }
    }
    return sum;
  }

  /** The first unit after n whose id is longer than n's: ids grow with each seven bits. */
  private static long endOfLength(int gpuIndex, long n) {
    long value = n << 8 | gpuIndex;
    int bits = Math.max(1, Long.SIZE - Long.numberOfLeadingZeros(value));
    int bytes = (bits + 6) / 7;
    long next = 1L << 7 * bytes;
    return Math.max(n + 1, next + 255 >> 8);
  }
}
