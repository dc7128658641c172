package io.vgpu.claim;

import static io.vgpu.model.Checks.check;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Every resource, annotation and label key of ours, under the domain of {@code --domain}
 * (node-agent.md 1.1 to 1.3, control-plane.md 2). The only place where those strings exist.
 */
public record Names(String domain) {
  public static final String DEFAULT_DOMAIN = "nvidia.com";
  public static final Names DEFAULT = new Names(DEFAULT_DOMAIN);

  /** These four keep {@code nvidia.com} whatever the domain. */
  public static final String DRIVER_VERSION_LABEL = "nvidia.com/node-driver-version";

  public static final String CUDA_VERSION_LABEL = "nvidia.com/node-cuda-version";
  public static final String CUDA_MAJOR_LABEL = "nvidia.com/node-cuda-major";
  public static final String CUDA_MINOR_LABEL = "nvidia.com/node-cuda-minor";

  /** Objects and namespaces with this label set to {@code "true"} are left alone by the webhook. */
  public static final String IGNORE_WEBHOOK_LABEL = "vgpu-manager.io/ignore-webhook";

  /** What convert-to-DRA remembers; stripped when a pod is made again. */
  public static final String ORIGINAL_RESOURCES = "vgpu-manager.io/original-resources";

  /**
   * Set by the rescheduler on the replacement: the UID of the pod that it replaces, so that it is
   * replaced once.
   */
  public static final String REPLACES = "vgpu-manager.io/replaces";

  /**
   * Set by the rescheduler on the replacement: how often in a row this name was replaced, so that
   * the pauses grow.
   */
  public static final String REPLACEMENTS = "vgpu-manager.io/replacements";

  public static final String SCHEDULER_NAME = "vgpu-scheduler";
  public static final String CLAIM_KEY_SECRET = "vgpu-manager-claim-key";
  public static final String CONTROLLER_LEASE = "vgpu-manager-controller";

  public Names {
    check(
        domain.length() <= 253
            && domain.matches("[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"),
        "domain \"%s\": must be a DNS subdomain such as nvidia.com",
        domain);
  }

  private String key(String name) {
    return domain + "/" + name;
  }

  // resources
  public String vgpuNumber() {
    return key("vgpu-number");
  }

  public String vgpuCores() {
    return key("vgpu-cores");
  }

  public String vgpuMemory() {
    return key("vgpu-memory");
  }

  // node annotations
  public String nodeConfigInfo() {
    return key("node-config-info");
  }

  public String nodeDeviceRegister() {
    return key("node-device-register");
  }

  public String nodeDeviceTopology() {
    return key("node-device-topology");
  }

  /** Which network rail each card sits on, {@code {"<uuid>":"<rail key>"}}. */
  public String nodeGpuDomain() {
    return key("node-gpu-domain");
  }

  public String nodeDeviceHeartbeat() {
    return key("node-device-heartbeat");
  }

  /** Which cards an operator keeps new pods off, and why; ours. */
  public String deviceCordon() {
    return key("device-cordon");
  }

  public String computePolicy() {
    return key("vgpu-compute-policy");
  }

  /** Of a pod: {@code "true"} where its launches shall wait for no turn. */
  public String latency() {
    return key("vgpu-latency");
  }

  /** Of a pod: how long it stays on a card that is unhealthy. */
  public String stuckGracePeriod() {
    return key("stuck-grace-period");
  }

  // pod outputs
  public String preAllocated() {
    return key("pre-allocated");
  }

  public String claimHmac() {
    return key("claim-hmac");
  }

  public String realAllocated() {
    return key("real-allocated");
  }

  public String predicateNode() {
    return key("predicate-node");
  }

  public String predicateTime() {
    return key("predicate-time");
  }

  public String assignedPhase() {
    return key("assigned-phase");
  }

  public String metricsNode() {
    return key("metrics-node");
  }

  // pod inputs
  public String nodeSchedulerPolicy() {
    return key("node-scheduler-policy");
  }

  public String deviceSchedulerPolicy() {
    return key("device-scheduler-policy");
  }

  public String deviceTopologyMode() {
    return key("device-topology-mode");
  }

  public String crossPodTopology() {
    return key("cross-pod-topology");
  }

  public String memorySchedulerPolicy() {
    return key("memory-scheduler-policy");
  }

  public String includeGpuType() {
    return key("include-gpu-type");
  }

  public String excludeGpuType() {
    return key("exclude-gpu-type");
  }

  public String includeGpuUuid() {
    return key("include-gpu-uuid");
  }

  public String excludeGpuUuid() {
    return key("exclude-gpu-uuid");
  }

  /** Every annotation of ours that a pod may carry, whoever writes it. */
  public Set<String> podAnnotations() {
    Set<String> known = new TreeSet<>(outputAnnotations());
    known.addAll(
        List.of(
            nodeSchedulerPolicy(),
            deviceSchedulerPolicy(),
            deviceTopologyMode(),
            crossPodTopology(),
            memorySchedulerPolicy(),
            includeGpuType(),
            excludeGpuType(),
            includeGpuUuid(),
            excludeGpuUuid(),
            computePolicy(),
            latency(),
            stuckGracePeriod(),
            key("vgpu-access-mode")));
    return known;
  }

  /**
   * Annotations that only our components may write on a pod (D5). {@code metrics-node} is one of
   * them where the node's name is too long for the label (D19).
   */
  public List<String> outputAnnotations() {
    return List.of(
        preAllocated(),
        claimHmac(),
        realAllocated(),
        predicateNode(),
        predicateTime(),
        metricsNode());
  }

  /** Labels that only our components may write on a pod (D5). */
  public List<String> outputLabels() {
    return List.of(assignedPhase(), metricsNode());
  }

  /** The three resources that make a pod ours. */
  public Set<String> resources() {
    return Set.of(vgpuNumber(), vgpuCores(), vgpuMemory());
  }
}
