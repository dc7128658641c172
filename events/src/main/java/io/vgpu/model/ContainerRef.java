package io.vgpu.model;

import static io.vgpu.model.Checks.check;

/** Which container of which pod. */
public record ContainerRef(PodRef pod, String container) {
  public ContainerRef {
    check(
        ContainerName.isValid(container),
        "container name \"%s\": %s",
        container,
        ContainerName.RULE);
  }

  @Override
  public String toString() {
    return pod.namespace() + "/" + pod.name() + "/" + container;
  }
}
