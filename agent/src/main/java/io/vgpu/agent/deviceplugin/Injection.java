package io.vgpu.agent.deviceplugin;

import io.vgpu.agent.inject.CdiSpecs;
import io.vgpu.agent.inject.DeviceNodes;
import io.vgpu.agent.inject.DeviceNodes.Node;
import io.vgpu.agent.inject.ExtraMode;
import io.vgpu.agent.inject.ImexChannels;
import io.vgpu.agent.inject.ListStrategy;
import io.vgpu.model.GpuUuid;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import k8s.deviceplugin.v1beta1.CDIDevice;
import k8s.deviceplugin.v1beta1.ContainerAllocateResponse;
import k8s.deviceplugin.v1beta1.DeviceSpec;
import k8s.deviceplugin.v1beta1.Mount;

/**
 * The part of an answer that brings the devices into the container, by every strategy that is
 * configured (node-agent.md 2.8): the same for shares of cards and for MIG slices. Any thread.
 */
public final class Injection {
  static final String VISIBLE = "NVIDIA_VISIBLE_DEVICES";
  private static final String FOLDER = "/var/run/nvidia-container-devices";

  /** One device of a container: its name for runtimes, and its nodes. */
  record Device(GpuUuid uuid, List<Node> nodes) {}

  /**
   * What is configured and was found.
   *
   * @param imex channels that every container gets
   * @param extras ways to the cards besides CUDA
   * @param cdiClasses classes of which a spec was written
   * @param annotationPrefix of the annotation that runtimes look for
   * @param random makes an annotation's name its own
   */
  public record Setup(
      Set<ListStrategy> strategies,
      DeviceNodes nodes,
      ImexChannels imex,
      Set<ExtraMode> extras,
      Set<String> cdiClasses,
      String annotationPrefix,
      Supplier<UUID> random) {
    public Setup {
      strategies = Set.copyOf(strategies);
      extras = Set.copyOf(extras);
      cdiClasses = Set.copyOf(cdiClasses);
    }
  }

  private final Setup setup;

  public Injection(Setup setup) {
    this.setup = setup;
  }

  /** The device nodes of the node's cards. */
  DeviceNodes nodes() {
    return setup.nodes();
  }

  /** Adds everything that these devices need. */
  void into(ContainerAllocateResponse.Builder answer, List<Device> devices) {
    cdi(answer, devices);
    if (ListStrategy.onlyCdi(setup.strategies())) {
      // what the image asks for must not make a runtime of the older kind bring every card (13-41)
      answer.putEnvs(VISIBLE, CdiSpecs.VOID);
      return;
    }
    list(answer, devices);
    setup.nodes().control().forEach(n -> node(answer, n));
    devices.stream()
        .flatMap(d -> d.nodes().stream())
        .distinct() // slices of one card share its node
        .forEach(n -> node(answer, n));
    setup.imex().channels().forEach(c -> node(answer, c.node()));
    setup.extras().forEach(e -> answer.putEnvs(e.variable(), "enabled"));
  }

  private void cdi(ContainerAllocateResponse.Builder answer, List<Device> devices) {
    if (!ListStrategy.anyCdi(setup.strategies())) {
      return;
    }
    List<String> names = names(devices);
    if (setup.strategies().contains(ListStrategy.CDI_ANNOTATIONS)) {
      answer.putAnnotations(
          setup.annotationPrefix() + "vgpu-manager_" + setup.random().get(),
          String.join(",", names));
    }
    if (setup.strategies().contains(ListStrategy.CDI_CRI)) {
      names.forEach(n -> answer.addCdiDevices(CDIDevice.newBuilder().setName(n)));
    }
  }

  private List<String> names(List<Device> devices) {
    List<String> names = new ArrayList<>();
    devices.forEach(d -> names.add(CdiSpecs.qualifiedName(CdiSpecs.GPU, d.uuid().value())));
    setup
        .imex()
        .channels()
        .forEach(c -> names.add(CdiSpecs.qualifiedName(CdiSpecs.IMEX, Integer.toString(c.id()))));
    for (ExtraMode extra : ExtraMode.values()) {
      if (setup.extras().contains(extra) && setup.cdiClasses().contains(extra.cdiClass())) {
        names.add(CdiSpecs.qualifiedName(extra.cdiClass(), CdiSpecs.ALL));
      }
    }
    return names;
  }

  private void list(ContainerAllocateResponse.Builder answer, List<Device> devices) {
    if (setup.strategies().contains(ListStrategy.VOLUME_MOUNTS)) {
      answer.putEnvs(VISIBLE, FOLDER);
      devices.forEach(d -> answer.addMounts(nothing(FOLDER + "/" + d.uuid())));
      setup.imex().channels().forEach(c -> answer.addMounts(nothing(FOLDER + "/imex/" + c.id())));
    } else if (setup.strategies().contains(ListStrategy.ENVVAR)) {
      answer.putEnvs(
          VISIBLE, devices.stream().map(d -> d.uuid().value()).collect(Collectors.joining(",")));
    }
    if (setup.strategies().contains(ListStrategy.ENVVAR) && !setup.imex().channels().isEmpty()) {
      answer.putEnvs("NVIDIA_IMEX_CHANNELS", setup.imex().list());
    }
  }

  /** A mount whose name says everything. */
  private static Mount nothing(String containerPath) {
    return Mount.newBuilder().setContainerPath(containerPath).setHostPath("/dev/null").build();
  }

  private static void node(ContainerAllocateResponse.Builder answer, Node node) {
    answer.addDevices(
        DeviceSpec.newBuilder()
            .setContainerPath(node.path())
            .setHostPath(node.hostPath())
            .setPermissions("rw"));
  }
}
