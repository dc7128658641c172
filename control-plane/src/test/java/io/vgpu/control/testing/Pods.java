package io.vgpu.control.testing;

import io.vgpu.claim.Names;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.Wishes;
import io.vgpu.model.ContainerDemand;
import io.vgpu.model.ContainerKind;
import io.vgpu.model.PodDemand;
import io.vgpu.model.PodRef;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Pods by number/cores/memory, as the scenarios write them. */
public final class Pods {
  public static final Names NAMES = Names.DEFAULT;

  private final List<ContainerDemand> inits = new ArrayList<>();
  private final List<ContainerDemand> apps = new ArrayList<>();
  private final Map<String, String> annotations = new LinkedHashMap<>();

  /** A pod with one app container {@code c1}. */
  public static Pods of(long number, long cores, long memory) {
    return new Pods().app(number, cores, memory);
  }

  public Pods app(long number, long cores, long memory) {
    String name = "c" + (apps.size() + 1);
    apps.add(new ContainerDemand(name, ContainerKind.APP, number, cores, memory));
    return this;
  }

  public Pods init(long number, long cores, long memory) {
    return first(ContainerKind.INIT, number, cores, memory);
  }

  public Pods sidecar(long number, long cores, long memory) {
    return first(ContainerKind.SIDECAR, number, cores, memory);
  }

  private Pods first(ContainerKind kind, long number, long cores, long memory) {
    String name = (kind == ContainerKind.INIT ? "i" : "s") + (inits.size() + 1);
    inits.add(new ContainerDemand(name, kind, number, cores, memory));
    return this;
  }

  public Pods with(String key, String value) {
    annotations.put(key, value);
    return this;
  }

  public Pods node(String policy) {
    return with(NAMES.nodeSchedulerPolicy(), policy);
  }

  public Pods device(String policy) {
    return with(NAMES.deviceSchedulerPolicy(), policy);
  }

  public PodRequest request() {
    return request("p");
  }

  public PodRequest request(String name) {
    List<ContainerDemand> all = new ArrayList<>(inits);
    all.addAll(apps);
    return new PodRequest(
        new PodRef("ns", name, "uid-" + name),
        "1",
        new PodDemand(all),
        Wishes.of(annotations, NAMES),
        0,
        List.of());
  }
}
