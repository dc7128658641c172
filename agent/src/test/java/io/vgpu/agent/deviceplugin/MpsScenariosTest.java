package io.vgpu.agent.deviceplugin;

import static io.vgpu.agent.deviceplugin.TestPod.app;
import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.kubelet.FakeKubelet.Result.Admitted;
import io.vgpu.agent.metrics.AgentMeters;
import io.vgpu.agent.shim.DeviceLimits;
import io.vgpu.agent.shim.DeviceLimits.Flag;
import io.vgpu.agent.shim.Partitions;
import io.vgpu.model.GpuUuid;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import k8s.deviceplugin.v1beta1.ContainerAllocateResponse;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Pods of 20 % and 1024 MiB on a node whose card 2 is partitioned by MPS. */
class MpsScenariosTest extends RigTest {
  private static final Path PIPE = Path.of("/run/vgpu-manager/mps/GPU-2/pipe");
  private static final Path SHM = Path.of("/run/vgpu-manager/mps/GPU-2/shm");
  private volatile boolean serves = true;

  @BeforeEach
  void partition() throws Exception {
    rig.partitions =
        new Partitions() {
          @Override
          public Set<GpuUuid> cards() {
            return Set.of(FixedInventory.uuid(2));
          }

          @Override
          public Optional<Folders> folders(GpuUuid card) {
            return cards().contains(card) ? Optional.of(new Folders(PIPE, SHM)) : Optional.empty();
          }

          @Override
          public boolean serves(GpuUuid card) {
            return serves && cards().contains(card);
          }
        };
    rig.startAgent();
  }

  private ContainerAllocateResponse answer(TestPod pod) {
    return ((Admitted) rig.run(pod)).answers().values().iterator().next();
  }

  private static List<String> mpsOf(ContainerAllocateResponse answer) {
    return answer.getEnvsMap().keySet().stream().filter(k -> k.contains("MPS")).sorted().toList();
  }

  private Set<Flag> flags(TestPod pod, int entry) {
    List<DeviceLimits> limits = rig.shim.of(pod.ref().uid(), "main");
    return limits.get(entry).flags();
  }

  private double byTime(String cause) {
    return AgentMeters.MPS_BY_TIME.counter(rig.meters, cause).count();
  }

  @Test
  void aContainerOnThePartitionedCardBecomesAClientOfItsDaemon() {
    TestPod pod = TestPod.of("p", app("main", 2));
    ContainerAllocateResponse answer = answer(pod);
    assertThat(answer.getEnvsMap())
        .containsAllEntriesOf(
            Map.of(
                "CUDA_MPS_PIPE_DIRECTORY", "/run/vgpu-mps",
                "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "20",
                "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", "0=1024M"));
    assertThat(answer.getMountsList())
        .extracting(m -> m.getContainerPath() + " < " + m.getHostPath())
        .contains("/run/vgpu-mps < " + PIPE, "/dev/shm < " + SHM);
    assertThat(flags(pod, 0)).contains(Flag.MPS, Flag.COMPUTE_LIMIT, Flag.MEMORY_LIMIT);
    assertThat(byTime("daemon") + byTime("cards") + byTime("small")).isZero();
    rig.started(pod); // PreStartContainer finds the limits that the claim wants
  }

  @Test
  void onAnotherCardNothingIsOfMps() {
    TestPod pod = TestPod.of("p", app("main", 1));
    ContainerAllocateResponse answer = answer(pod);
    assertThat(mpsOf(answer)).isEmpty();
    assertThat(answer.getMountsList()).hasSize(5);
    assertThat(flags(pod, 0)).doesNotContain(Flag.MPS);
  }

  @Test
  void withSeveralCardsItsSharesAreKeptByTimeAndItIsSaid() throws Exception {
    TestPod pod = TestPod.of("p", app("main", 1, 2));
    ContainerAllocateResponse answer = answer(pod);
    assertThat(mpsOf(answer)).isEmpty();
    assertThat(flags(pod, 0)).doesNotContain(Flag.MPS);
    assertThat(flags(pod, 1)).doesNotContain(Flag.MPS);
    assertThat(byTime("cards")).isEqualTo(1);
    assertThat(rig.api.next("/events").body())
        .contains("ShareKeptByTime", "several cards", "Warning");
  }

  @Test
  void withoutItsDaemonTheContainerStartsAndItIsSaidThatTheLibraryKeepsTheShare() throws Exception {
    serves = false;
    TestPod pod = TestPod.of("p", app("main", 2));
    ContainerAllocateResponse answer = answer(pod);
    assertThat(mpsOf(answer)).hasSize(3);
    assertThat(flags(pod, 0)).contains(Flag.MPS, Flag.COMPUTE_LIMIT);
    assertThat(byTime("daemon")).isEqualTo(1);
    assertThat(rig.api.next("/events").body()).contains("ShareKeptByTime", "does not serve");
    serves = true;
    rig.started(pod); // the limits do not depend on who serves when
  }

  @Test
  void anAgentThatStartsAgainRestoresTheSameLimits() throws Exception {
    TestPod pod = TestPod.of("p", app("main", 2));
    answer(pod);
    rig.started(pod);
    rig.stopAgent();
    rig.shim.files.clear();
    serves = false;
    rig.startAgent();
    assertThat(flags(pod, 0)).contains(Flag.MPS);
  }
}
