package io.vgpu.agent.deviceplugin;

import static io.vgpu.model.Checks.check;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * What the device plugin must be told (node-agent.md 3.2, D21).
 *
 * @param node this node's name
 * @param pluginDir the kubelet's device-plugins folder, where {@code kubelet.sock} is
 * @param endpoint base name of our socket in it
 * @param podResourcesSocket the kubelet's pod-resources socket
 * @param managerDir the manager directory as this process sees it; the checkpoint is below it
 * @param hostLibrary the injected library as the host sees it
 * @param hostPreload what becomes a container's {@code /etc/ld.so.preload}, as the host sees it
 * @param hostRegistry the directory of the registration socket as the host sees it; empty unless
 *     gate DevicePluginClientMode is on
 * @param served whether slots of cards are registered: not with MIG strategy {@code single}
 * @param numaHints tell each device's NUMA node; aligned ids are then taken without asking us
 * @param honorPreAllocated gate HonorPreAllocatedDeviceIDs
 * @param markRefused gate AllocationFailureReschedule
 * @param callLimit own deadline of each of the kubelet's calls
 * @param startLimit how long the first registration waits for a look at the node
 */
public record DevicePluginConfig(
    String node,
    Path pluginDir,
    String endpoint,
    Path podResourcesSocket,
    Path managerDir,
    Path hostLibrary,
    Path hostPreload,
    Optional<Path> hostRegistry,
    boolean served,
    boolean numaHints,
    boolean honorPreAllocated,
    boolean markRefused,
    Duration callLimit,
    Duration startLimit) {
  public static final String ENDPOINT = "nvidia-vgpu.sock";
  public static final Duration CALL_LIMIT = Duration.ofSeconds(2);
  public static final Duration START_LIMIT = Duration.ofSeconds(3);

  public DevicePluginConfig {
    check(!node.isEmpty(), "node name must not be empty");
    check(
        !endpoint.isEmpty() && endpoint.indexOf('/') < 0,
        "endpoint \"%s\": must be a base name",
        endpoint);
    check(
        callLimit.compareTo(Duration.ofSeconds(2)) <= 0 && callLimit.isPositive(),
        "call limit %s: must be positive and at most 2 s, nothing else is admitted meanwhile",
        callLimit);
  }
}
