package io.vgpu.control.kube;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.vgpu.control.cluster.Host;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * CPU and memory as kube-scheduler counts them: sidecars and apps together, or sidecars so far and
 * the largest init container, and the overhead. Pure; absent or absurd quantities are bounded.
 */
final class HostRequests {
  private static final BigDecimal MIB = BigDecimal.valueOf(1L << 20);
  private static final BigDecimal MOST = BigDecimal.valueOf(1L << 40);

  private HostRequests() {}

  /** What a pod requests. */
  static Host of(Pod pod) {
    PodSpec spec = pod.getSpec();
    if (spec == null) {
      return Host.ZERO;
    }
    Host sidecars = Host.ZERO;
    Host inits = Host.ZERO;
    for (Container c : spec.getInitContainers()) {
      Host one = of(c.getResources());
      if ("Always".equals(c.getRestartPolicy())) {
        sidecars = sidecars.plus(one);
        inits = inits.max(sidecars);
      } else {
        inits = inits.max(sidecars.plus(one));
      }
    }
    Host apps = sidecars;
    for (Container c : spec.getContainers()) {
      apps = apps.plus(of(c.getResources()));
    }
    return apps.max(inits).plus(host(spec.getOverhead()));
  }

  private static Host of(@Nullable ResourceRequirements resources) {
    if (resources == null) {
      return Host.ZERO;
    }
    Host asked = host(resources.getRequests());
    Host limit = host(resources.getLimits());
    // a container with a limit alone requests as much
    return new Host(
        has(resources.getRequests(), "cpu") ? asked.cpuMilli() : limit.cpuMilli(),
        has(resources.getRequests(), "memory") ? asked.memoryMiB() : limit.memoryMiB());
  }

  private static boolean has(@Nullable Map<String, Quantity> amounts, String name) {
    return amounts != null && amounts.containsKey(name);
  }

  /** CPU and memory of a list of amounts; what is not there is 0. */
  static Host host(@Nullable Map<String, Quantity> amounts) {
    if (amounts == null) {
      return Host.ZERO;
    }
    return new Host(
        whole(amounts.get("cpu"), BigDecimal.valueOf(1000), BigDecimal.ONE, RoundingMode.CEILING),
        whole(amounts.get("memory"), BigDecimal.ONE, MIB, RoundingMode.FLOOR));
  }

  private static long whole(
      @Nullable Quantity quantity, BigDecimal times, BigDecimal per, RoundingMode rounding) {
    if (quantity == null) {
      return 0;
    }
    return quantity
        .getNumericalAmount()
        .multiply(times)
        .divide(per, 0, rounding)
        .min(MOST)
        .max(BigDecimal.ZERO)
        .longValue();
  }
}
