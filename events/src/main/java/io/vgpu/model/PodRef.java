package io.vgpu.model;

import static io.vgpu.model.Checks.check;

/** Which pod: names are used again and again, only the UID is one pod's for ever. */
public record PodRef(String namespace, String name, String uid) {
  public PodRef {
    check(!namespace.isEmpty(), "pod namespace must not be empty");
    check(!name.isEmpty(), "pod name must not be empty");
    check(!uid.isEmpty(), "UID of pod %s/%s must not be empty", namespace, name);
  }

  @Override
  public String toString() {
    return namespace + "/" + name + " (" + uid + ")";
  }
}
