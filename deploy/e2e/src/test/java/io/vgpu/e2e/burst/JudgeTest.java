package io.vgpu.e2e.burst;

import static io.vgpu.e2e.burst.Histories.app;
import static io.vgpu.e2e.burst.Histories.claim;
import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.model.ContainerDemand;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class JudgeTest {
  private final Histories h = new Histories("early-0");
  private final ContainerDemand one = app("main", 1, 10, 1024);
  private final Judge judge =
      new Judge(h.history, Set.of("early"), Optional.of(new Gap(1_000, 46_000)));

  /** What a container of the claim main[2_..._10_1024] prints. */
  private static String print(String uid, String pod) {
    return """
    ### env
    NVIDIA_VISIBLE_DEVICES=%1$s
    VGPU_CONTAINER_NAME=main
    VGPU_POD_NAME=%3$s
    VGPU_POD_UID=%2$s
    ### mounts
    /etc/vgpu-manager/driver/libvgpu-control.so ro,relatime
    /etc/ld.so.preload ro,relatime
    /etc/vgpu-manager/main ro,relatime
    /etc/vgpu-manager/main/usage rw,relatime
    /etc/vgpu-manager/main/usage.lock rw,relatime
    ### devices
    nvidia-modeset
    nvidia-uvm
    nvidia-uvm-tools
    nvidia2
    nvidiactl
    ### preload
    /etc/vgpu-manager/driver/libvgpu-control.so
    4
    ### limits
    {"devices": [{"uuid": "%1$s", "nvml_index": 2, "mem_limit": 1073741824, "core_hard_permille": 100, "core_soft_permille": 100}]}
    ### end
    """
        .formatted(BurstNode.uuids().get(2), uid, pod);
  }

  private static Print whole(String uid, String pod, String text) {
    return new Print(uid, pod, "main", 0, 500, text);
  }

  private List<String> claims(Print... prints) {
    return judge.claims(List.of(prints)).stream().map(Finding::text).toList();
  }

  @Test
  void containerThatSeesItsClaimIsRight() {
    h.pod("a", "p", one).bound(claim(one, 2));
    assertThat(claims(whole("a", "p", print("a", "p")))).isEmpty();
  }

  @Test
  void foreignUuidIsFound() {
    h.pod("a", "p", one).bound(claim(one, 3));
    assertThat(claims(whole("a", "p", print("a", "p"))))
        .singleElement()
        .asString()
        .contains("NVIDIA_VISIBLE_DEVICES", "device nodes", "limits");
  }

  @Test
  void otherLimitsAreFound() {
    ContainerDemand more = app("main", 1, 20, 1024);
    h.pod("a", "p", more).bound(claim(more, 2));
    assertThat(claims(whole("a", "p", print("a", "p"))))
        .singleElement()
        .asString()
        .contains("limits");
  }

  @Test
  void identityOfANamesakeIsFound() {
    h.pod("old", "p", one).bound(claim(one, 2)).gone();
    h.pod("new", "p", one).bound(claim(one, 2));
    assertThat(claims(whole("new", "p", print("old", "p"))))
        .singleElement()
        .asString()
        .contains("VGPU_POD_UID is old, not new");
  }

  @Test
  void containerOfAnUnknownPodIsFound() {
    assertThat(claims(whole("x", "p", print("x", "p")))).hasSize(1);
  }

  @Test
  void containerWithoutClaimIsFound() {
    h.pod("a", "p", one).boundWithoutClaim();
    assertThat(claims(whole("a", "p", print("a", "p"))))
        .singleElement()
        .asString()
        .contains("without a claim");
  }

  @Test
  void podWithoutPluginMustNotHaveDevices() {
    h.pod("early", "early-0", one).boundWithoutClaim();
    assertThat(claims(whole("early", "early-0", print("early", "early-0")))).hasSize(1);
    assertThat(claims(whole("early", "early-0", NOTHING))).isEmpty();
  }

  private static final String NOTHING =
      """
      ### env
      ### mounts
      ### devices
      ### preload
      cat: /etc/ld.so.preload: No such file or directory
      0
      ### limits
      shim-inspect: /etc/vgpu-manager: No such file or directory
      ### end
      """;

  private static Print nothing(String uid, long seenAtMs) {
    return new Print(uid, "p", "main", 0, seenAtMs, NOTHING);
  }

  @Test
  void containerWithoutDevicesIsExcusedOnlySoonAfterTheCheckpointWasLost() {
    h.pod("a", "p", one).bound(claim(one, 2)).phase("Succeeded");
    assertThat(claims(nothing("a", 999))).hasSize(1);
    assertThat(claims(nothing("a", 1_500))).isEmpty();
    assertThat(claims(nothing("a", 61_001))).hasSize(1);
    assertThat(judge.withoutDevices(List.of(nothing("a", 999)))).isEmpty();
    assertThat(judge.withoutDevices(List.of(nothing("a", 1_500)))).containsExactly("a");
  }

  @Test
  void containerWithoutDevicesMustBeFoundIfItStaysThere() {
    Histories.Life pod = h.pod("a", "p", one).bound(claim(one, 2)).running("main");
    assertThat(claims(nothing("a", 1_500)))
        .singleElement()
        .asString()
        .contains("runs without devices, and nobody noticed");
    pod.marked();
    assertThat(claims(nothing("a", 1_500))).isEmpty();
  }

  @Test
  void aLostCheckpointExcusesNoForeignCard() {
    h.pod("a", "p", one).bound(claim(one, 3)).phase("Succeeded");
    assertThat(claims(new Print("a", "p", "main", 0, 1_500, print("a", "p")))).hasSize(1);
  }

  @Test
  void partialPrintIsNotCompared() {
    h.pod("a", "p", one).bound(claim(one, 3));
    String text = print("a", "p");
    assertThat(claims(whole("a", "p", text.substring(0, text.indexOf("### end"))))).isEmpty();
  }

  @Test
  void succeededWithoutAWholePrintIsFound() {
    ContainerDemand other = app("other", 1, 10, 1024);
    h.pod("a", "p", one, other).bound(claim(one, 2), claim(other, 2)).phase("Succeeded");
    assertThat(judge.completeness(List.of(whole("a", "p", print("a", "p")))))
        .singleElement()
        .satisfies(f -> assertThat(f.text()).contains("container other printed nothing"));
  }

  @Test
  void boundInTheOrderOfCreationIsFound() {
    h.pod("a", "p");
    h.pod("b", "q");
    h.pod("c", "r");
    assertThat(judge.order(List.of("p", "q", "r"))).hasSize(1);
    assertThat(judge.order(List.of())).hasSize(1);
    assertThat(judge.order(List.of("q", "p", "r"))).isEmpty();
    // a second pod under an early name is no sign of another order
    assertThat(judge.order(List.of("p", "q", "p", "r"))).hasSize(1);
  }

  @Test
  void secondBindingOfOnePodIsFound() {
    h.pod("a", "p");
    assertThat(judge.bindings(List.of("p"))).isEmpty();
    assertThat(judge.bindings(List.of("p", "p"))).hasSize(1);
    h.pod("b", "p");
    assertThat(judge.bindings(List.of("p", "p"))).isEmpty();
  }

  @Test
  void jobWithoutASuccessfulPodIsFound() {
    assertThat(judge.jobs(List.of("job-x")))
        .singleElement()
        .satisfies(f -> assertThat(f.text()).contains("job-x").contains("none"));
  }
}
