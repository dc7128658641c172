package io.vgpu.e2e.burst;

import static io.vgpu.e2e.burst.Histories.app;
import static io.vgpu.e2e.burst.Histories.claim;
import static io.vgpu.e2e.burst.Histories.init;
import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.kubelet.ListedPod;
import io.vgpu.model.ContainerDemand;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class DeviceAuditTest {
  private static final Instant ASKED = Instant.ofEpochMilli(100_500);

  private final Histories h = new Histories();
  private final DeviceAudit audit = new DeviceAudit(h.history);
  private final ContainerDemand two = app("main", 2, 10, 1000);

  private static String id(int card, int slot) {
    return BurstNode.uuids().get(card) + "::" + slot;
  }

  private static ListedPod listed(String pod, String... ids) {
    return new ListedPod("ns", pod, Map.of("main", Set.of(ids)));
  }

  private List<String> check(ListedPod... pods) {
    return check(Optional.empty(), pods);
  }

  private List<String> check(Optional<Gap> gap, ListedPod... pods) {
    List<ListedPod> listed = List.of(pods);
    List<Finding> findings = new ArrayList<>(audit.check(listed, 1_000));
    Map<DeviceAudit.Running, Instant> missing =
        audit.missing(listed, audit.running()).stream()
            .collect(Collectors.toMap(r -> r, r -> ASKED));
    findings.addAll(audit.missing(missing, gap));
    return findings.stream().map(Finding::text).toList();
  }

  @Test
  void idsOfTheClaimedCardsAreRightWhateverTheirSlots() {
    h.pod("a", "p", two).bound(claim(two, 1, 2)).running("main");
    h.pod("b", "q", two).bound(claim(two, 1, 2)).running("main");
    assertThat(check(listed("p", id(1, 0), id(2, 7)), listed("q", id(1, 1), id(2, 0)))).isEmpty();
  }

  @Test
  void idInTwoContainersIsFoundEvenAfterALostCheckpoint() {
    h.pod("a", "p", two).bound(claim(two, 1, 2));
    h.pod("b", "q", two).bound(claim(two, 1, 2));
    assertThat(
            check(
                Optional.of(new Gap(900, 1_000)),
                listed("p", id(1, 0), id(2, 7)),
                listed("q", id(1, 1), id(2, 7))))
        .singleElement()
        .asString()
        .contains(id(2, 7) + " is in p/main and in q/main");
  }

  @Test
  void foreignCardIsFound() {
    h.pod("a", "p", two).bound(claim(two, 1, 2));
    assertThat(check(listed("p", id(1, 0), id(3, 0))))
        .singleElement()
        .asString()
        .startsWith("the kubelet holds");
  }

  @Test
  void tooFewIdsAreFound() {
    h.pod("a", "p", two).bound(claim(two, 1, 2));
    assertThat(check(listed("p", id(1, 0)))).hasSize(1);
  }

  @Test
  void idsOfAPodThatNobodyKnowsAreFound() {
    assertThat(check(listed("p", id(1, 0)))).hasSize(1);
  }

  @Test
  void formerBearerOfTheNameMayStillHoldItsOwnCards() {
    h.pod("a", "p", two).bound(claim(two, 1, 2)).gone();
    h.pod("b", "p", two).bound(claim(two, 3, 4));
    assertThat(check(listed("p", id(1, 0), id(2, 0)))).isEmpty();
    assertThat(check(listed("p", id(3, 0), id(4, 0)))).isEmpty();
    assertThat(check(listed("p", id(1, 0), id(4, 0)))).hasSize(1);
  }

  @Test
  void runningContainerWithoutIdsIsFoundUnlessTheKubeletKnewNoPluginSinceItWasBound() {
    h.pod("a", "p", two).bound(claim(two, 1, 2)).running("main");
    assertThat(check(listed("p"))).hasSize(1);
    assertThat(check(Optional.of(new Gap(5, 15)), listed("p"))).hasSize(1);
    assertThat(check(Optional.of(new Gap(500, 700)), listed("p"))).isEmpty();
  }

  @Test
  void containerThatTheApiHeardLateOfIsExcusedOnlyIfItHadEndedByThen() {
    Histories.Life pod = h.pod("a", "p", two).bound(claim(two, 1, 2)).running("main");
    var missing = Map.of(audit.running().getFirst(), ASKED);
    pod.ended("main", ASKED.plusMillis(500));
    assertThat(audit.missing(missing, Optional.empty())).hasSize(1);
    pod.ended("main", ASKED.minusMillis(500));
    assertThat(audit.missing(missing, Optional.empty())).isEmpty();
    pod.running("main");
    assertThat(audit.missing(missing, Optional.empty())).hasSize(1);
  }

  @Test
  void runningInitContainerIsNeverListed() {
    ContainerDemand init = init("prepare", 2, 10, 1000);
    h.pod("a", "p", init, two).bound(claim(init, 1, 2), claim(two, 1, 2)).running("prepare");
    assertThat(check(listed("p"))).isEmpty();
  }

  @Test
  void containerThatDoesNotRunYetMayLackItsIds() {
    h.pod("a", "p", two).bound(claim(two, 1, 2));
    assertThat(check(listed("p"))).isEmpty();
  }
}
