package io.vgpu.control.scheduler;

/** What kube-scheduler sends with bind (control-plane.md 1.1). */
record BindArgs(String podName, String podNamespace, String podUid, String node) {}
