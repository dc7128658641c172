package io.vgpu.model;

/** When a container of a pod runs; sidecars are init containers with restartPolicy Always. */
public enum ContainerKind {
  INIT,
  SIDECAR,
  APP
}
