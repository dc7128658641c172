package io.vgpu.agent.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.inject.DeviceNodes;
import io.vgpu.agent.inject.DeviceNodes.Node;
import io.vgpu.agent.inject.ExtraMode;
import io.vgpu.agent.inject.ImexChannels;
import io.vgpu.agent.inject.ListStrategy;
import io.vgpu.agent.inject.MigMinors;
import io.vgpu.model.GpuUuid;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import k8s.deviceplugin.v1beta1.CDIDevice;
import k8s.deviceplugin.v1beta1.ContainerAllocateResponse;
import k8s.deviceplugin.v1beta1.DeviceSpec;
import k8s.deviceplugin.v1beta1.Mount;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The strategies of node-agent.md 2.8, each and in every combination. */
class InjectionTest {
  private static final String A = "GPU-aaaaaaaa-0000-0000-0000-000000000000";
  private static final String B = "MIG-bbbbbbbb-0000-0000-0000-000000000000";
  private static final Node OF_BOTH = new Node("/dev/nvidia1", "/root/dev/nvidia1");
  private static final List<Injection.Device> DEVICES =
      List.of(
          new Injection.Device(new GpuUuid(A), List.of(OF_BOTH)),
          new Injection.Device(
              new GpuUuid(B),
              List.of(OF_BOTH, new Node("/dev/nvidia-caps/nvidia-cap3", "/root/cap3"))));
  private static final String CDI_A = "k8s.device-plugin.nvidia.com/gpu=" + A;
  private static final String CDI_B = "k8s.device-plugin.nvidia.com/gpu=" + B;
  private static final String FOLDER = "/var/run/nvidia-container-devices";

  private static final ImexChannels CHANNEL =
      new ImexChannels(
          List.of(
              new ImexChannels.Channel(
                  0, new Node("/dev/nvidia-caps-imex-channels/channel0", "/root/channel0"))));

  private static ContainerAllocateResponse answer(
      Set<ListStrategy> strategies, ImexChannels imex, Set<ExtraMode> extras, Set<String> cdi) {
    ContainerAllocateResponse.Builder answer = ContainerAllocateResponse.newBuilder();
    new Injection(
            new Injection.Setup(
                strategies,
                new DeviceNodes(
                    Path.of("/nowhere"), p -> !p.toString().endsWith("dxg"), MigMinors.NONE),
                imex,
                extras,
                cdi,
                "cdi.k8s.io/",
                () -> new UUID(1, 2)))
        .into(answer, DEVICES);
    return answer.build();
  }

  private static ContainerAllocateResponse plain(ListStrategy... strategies) {
    return answer(Set.of(strategies), ImexChannels.NONE, Set.of(), Set.of());
  }

  private static List<String> cdi(ContainerAllocateResponse answer) {
    return answer.getCdiDevicesList().stream().map(CDIDevice::getName).toList();
  }

  private static List<String> nodes(ContainerAllocateResponse answer) {
    return answer.getDevicesList().stream().map(DeviceSpec::getContainerPath).toList();
  }

  private static List<String> mounts(ContainerAllocateResponse answer) {
    return answer.getMountsList().stream().map(Mount::getContainerPath).toList();
  }

  @Test
  void envvarNamesTheDevicesAndBringsTheirNodes() {
    ContainerAllocateResponse answer = plain(ListStrategy.ENVVAR);

    assertThat(answer.getEnvsMap()).isEqualTo(Map.of("NVIDIA_VISIBLE_DEVICES", A + "," + B));
    assertThat(nodes(answer))
        .containsExactly(
            "/dev/nvidiactl",
            "/dev/nvidia-uvm",
            "/dev/nvidia-uvm-tools",
            "/dev/nvidia-modeset",
            "/dev/nvidia1",
            "/dev/nvidia-caps/nvidia-cap3");
    assertThat(answer.getDevicesList())
        .allMatch(d -> d.getPermissions().equals("rw"))
        .anyMatch(d -> d.getHostPath().equals("/root/cap3"));
    assertThat(answer.getMountsList()).isEmpty();
    assertThat(cdi(answer)).isEmpty();
    assertThat(answer.getAnnotationsMap()).isEmpty();
  }

  @Test
  void volumeMountsWinOverEnvvar() {
    ContainerAllocateResponse answer = plain(ListStrategy.ENVVAR, ListStrategy.VOLUME_MOUNTS);

    assertThat(answer.getEnvsMap()).isEqualTo(Map.of("NVIDIA_VISIBLE_DEVICES", FOLDER));
    assertThat(mounts(answer)).containsExactly(FOLDER + "/" + A, FOLDER + "/" + B);
    assertThat(answer.getMountsList()).allMatch(m -> m.getHostPath().equals("/dev/null"));
  }

  @Test
  void cdiIsAnAnnotationOfItsOwnNameOrAField() {
    assertThat(plain(ListStrategy.CDI_ANNOTATIONS).getAnnotationsMap())
        .isEqualTo(
            Map.of(
                "cdi.k8s.io/vgpu-manager_00000000-0000-0001-0000-000000000002",
                CDI_A + "," + CDI_B));
    assertThat(cdi(plain(ListStrategy.CDI_CRI))).containsExactly(CDI_A, CDI_B);
  }

  static Stream<Set<ListStrategy>> combinations() {
    ListStrategy[] all = ListStrategy.values();
    return IntStream.range(1, 1 << all.length)
        .mapToObj(
            bits -> {
              Set<ListStrategy> set = EnumSet.noneOf(ListStrategy.class);
              Arrays.stream(all).filter(s -> (bits & 1 << s.ordinal()) != 0).forEach(set::add);
              return set;
            });
  }

  @ParameterizedTest
  @MethodSource("combinations")
  void nodesAndVariablesAreLeftOutOnlyWhereAllIsCdi_13_52(Set<ListStrategy> strategies) {
    ContainerAllocateResponse answer =
        answer(strategies, CHANNEL, EnumSet.allOf(ExtraMode.class), Set.of("gpu", "gds"));

    boolean onlyCdi =
        !strategies.contains(ListStrategy.ENVVAR)
            && !strategies.contains(ListStrategy.VOLUME_MOUNTS);
    if (onlyCdi) {
      assertThat(answer.getEnvsMap()).isEqualTo(Map.of("NVIDIA_VISIBLE_DEVICES", "void"));
      assertThat(nodes(answer)).isEmpty();
    } else {
      assertThat(answer.getEnvsMap())
          .containsEntry("NVIDIA_GDS", "enabled")
          .containsEntry("NVIDIA_MOFED", "enabled")
          .containsEntry("NVIDIA_GDRCOPY", "enabled")
          .doesNotContainValue("void");
      assertThat(nodes(answer)).contains("/dev/nvidiactl", "/dev/nvidia1");
      assertThat(nodes(answer)).contains("/dev/nvidia-caps-imex-channels/channel0");
    }
    assertThat(answer.getEnvsMap().containsKey("NVIDIA_IMEX_CHANNELS"))
        .isEqualTo(strategies.contains(ListStrategy.ENVVAR));
    assertThat(mounts(answer).contains(FOLDER + "/imex/0"))
        .isEqualTo(strategies.contains(ListStrategy.VOLUME_MOUNTS));
    List<String> names =
        List.of(
            CDI_A,
            CDI_B,
            "k8s.device-plugin.nvidia.com/imex-channel=0",
            "k8s.device-plugin.nvidia.com/gds=all");
    assertThat(cdi(answer))
        .isEqualTo(strategies.contains(ListStrategy.CDI_CRI) ? names : List.of());
    assertThat(List.copyOf(answer.getAnnotationsMap().values()))
        .isEqualTo(
            strategies.contains(ListStrategy.CDI_ANNOTATIONS)
                ? List.of(String.join(",", names))
                : List.of());
  }

  @ParameterizedTest
  @EnumSource(
      value = ListStrategy.class,
      names = {"CDI_ANNOTATIONS", "CDI_CRI"})
  void anImageThatAsksForEveryCardGetsNoneFromAnOlderRuntime_13_41(ListStrategy strategy) {
    assertThat(plain(strategy).getEnvsMap()).containsEntry("NVIDIA_VISIBLE_DEVICES", "void");
  }
}
