package io.vgpu.e2e.product;

import io.vgpu.model.ContainerClaim;
import io.vgpu.model.DeviceClaim;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Compares what a container sees with what its claim says; each difference is a sentence. Pure. */
public final class Expectation {
  private static final List<String> CONTROL_NODES =
      List.of("nvidia-modeset", "nvidia-uvm", "nvidia-uvm-tools", "nvidiactl");

  private Expectation() {}

  /**
   * Every difference between the claim and the view, with policy {@code fixed}; empty when the
   * container has exactly its claim.
   */
  public static List<String> differences(ContainerClaim claim, ContainerView view) {
    List<String> differences = new ArrayList<>();
    env(claim, view, differences);
    mounts(claim, view, differences);
    devices(claim, view, differences);
    limits(claim, view, differences);
    return differences;
  }

  private static void env(ContainerClaim claim, ContainerView view, List<String> differences) {
    String wanted =
        sorted(claim).stream().map(d -> d.uuid().value()).collect(Collectors.joining(","));
    String seen = view.env().getOrDefault("NVIDIA_VISIBLE_DEVICES", "(unset)");
    if (!seen.equals(wanted)) {
      differences.add("NVIDIA_VISIBLE_DEVICES is " + seen + ", the claim says " + wanted);
    }
    if (!claim.container().equals(view.env().get("VGPU_CONTAINER_NAME"))) {
      differences.add(
          "VGPU_CONTAINER_NAME is "
              + view.env().get("VGPU_CONTAINER_NAME")
              + ", not "
              + claim.container());
    }
    view.env().keySet().stream()
        .filter(k -> k.startsWith("CUDA_"))
        .forEach(k -> differences.add(k + " is set: limits must not travel in the environment"));
  }

  private static void mounts(ContainerClaim claim, ContainerView view, List<String> differences) {
    String directory = "/etc/vgpu-manager/" + claim.container();
    Map<String, Boolean> readOnly =
        Map.of(
            "/etc/vgpu-manager/driver/libvgpu-control.so",
            true,
            "/etc/ld.so.preload",
            true,
            directory,
            true,
            directory + "/usage",
            false,
            directory + "/usage.lock",
            false);
    readOnly.forEach(
        (path, ro) -> {
          String options = view.mounts().get(path);
          if (options == null) {
            differences.add("mount " + path + " is missing");
          } else if (List.of(options.split(",")).contains("ro") != ro) {
            differences.add(
                "mount "
                    + path
                    + " is "
                    + options
                    + ", must be "
                    + (ro ? "read-only" : "writable"));
          }
        });
    view.mounts().keySet().stream()
        .filter(m -> !readOnly.containsKey(m))
        .forEach(m -> differences.add("mount " + m + " is more than the claim gives"));
    if (view.preload().isEmpty() || !view.preload().getFirst().contains("libvgpu-control.so")) {
      differences.add("/etc/ld.so.preload does not name libvgpu-control.so");
    } else if (view.preload().size() < 2 || view.preload().get(1).equals("0")) {
      differences.add("libvgpu-control.so is not mapped into the container's processes");
    }
  }

  private static void devices(ContainerClaim claim, ContainerView view, List<String> differences) {
    TreeSet<String> wanted = new TreeSet<>(CONTROL_NODES);
    // on the fake node a card's minor number is its index
    claim.devices().forEach(d -> wanted.add("nvidia" + d.index()));
    TreeSet<String> seen = new TreeSet<>(view.devices());
    if (!seen.equals(wanted)) {
      differences.add("device nodes are " + seen + ", the claim gives " + wanted);
    }
  }

  private static void limits(ContainerClaim claim, ContainerView view, List<String> differences) {
    List<ContainerView.Limit> wanted =
        sorted(claim).stream()
            .map(
                d -> {
                  int permille =
                      d.cores().value() > 0 && d.cores().value() < 100
                          ? 10 * d.cores().value()
                          : 1000;
                  return new ContainerView.Limit(
                      d.uuid().value(), d.index(), d.memory().bytes(), permille, permille);
                })
            .toList();
    List<ContainerView.Limit> seen =
        view.limits().stream()
            .sorted(Comparator.comparingInt(ContainerView.Limit::nvmlIndex))
            .toList();
    if (!seen.equals(wanted)) {
      differences.add("limits are " + seen + ", the claim says " + wanted);
    }
  }

  private static List<DeviceClaim> sorted(ContainerClaim claim) {
    return claim.devices().stream().sorted(Comparator.comparingInt(DeviceClaim::index)).toList();
  }
}
