package io.vgpu.e2e.cluster;

import java.util.Locale;

/** The real parts of the cluster, in the order in which they start. */
public enum Part {
  ETCD("etcd"),
  CONTAINERD("containerd"),
  APISERVER("kube-apiserver"),
  CONTROLLER_MANAGER("kube-controller-manager"),
  SCHEDULER("kube-scheduler"),
  KUBELET("kubelet");

  private final String binary;

  Part(String binary) {
    this.binary = binary;
  }

  /** Name of the executable, of its log and of its pid file. */
  public String binary() {
    return binary;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
