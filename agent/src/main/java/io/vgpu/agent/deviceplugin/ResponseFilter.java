package io.vgpu.agent.deviceplugin;

import io.vgpu.model.ContainerRef;
import k8s.deviceplugin.v1beta1.ContainerAllocateResponse;

/**
 * The last hand on an answer before the kubelet gets it. The identity in production; tests of the
 * whole system put a fault here, to show that somebody notices.
 */
@FunctionalInterface
public interface ResponseFilter {
  ResponseFilter IDENTITY = (container, answer) -> answer;

  /** The answer to send instead. */
  ContainerAllocateResponse apply(ContainerRef container, ContainerAllocateResponse answer);
}
