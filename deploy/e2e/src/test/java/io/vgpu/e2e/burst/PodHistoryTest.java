package io.vgpu.e2e.burst;

import static io.vgpu.e2e.burst.Histories.app;
import static io.vgpu.e2e.burst.Histories.claim;
import static io.vgpu.e2e.burst.Histories.init;
import static io.vgpu.e2e.burst.Histories.sidecar;
import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.Names;
import io.vgpu.e2e.burst.Finding.Check;
import io.vgpu.model.ContainerDemand;
import org.junit.jupiter.api.Test;

class PodHistoryTest {
  private final Histories h = new Histories("early-0");
  private final ContainerDemand half = app("main", 1, 50, 20_000);

  @Test
  void twoHalvesOfACardAreNoOverCommitButAThirdIs() {
    h.pod("u1", "p1", half).bound(claim(half, 3));
    h.pod("u2", "p2", half).bound(claim(half, 3));
    assertThat(h.history.findings()).isEmpty();
    h.pod("u3", "p3", half).bound(claim(half, 3));
    assertThat(h.history.findings())
        .singleElement()
        .satisfies(
            f -> {
              assertThat(f.check()).isEqualTo(Check.OVER_COMMIT);
              assertThat(f.uid()).contains("u3");
              assertThat(f.text()).contains(BurstNode.uuids().get(3)).contains("150 % cores");
            });
  }

  @Test
  void slotsAndMemoryAreCountedToo() {
    ContainerDemand small = app("main", 1, 0, 1);
    for (int i = 0; i < 11; i++) {
      h.pod("s" + i, "s" + i, small).bound(claim(small, 0));
    }
    ContainerDemand large = app("main", 1, 0, 40_960);
    h.pod("m1", "m1", large).bound(claim(large, 1));
    h.pod("m2", "m2", small).bound(claim(small, 1));
    assertThat(h.history.findings()).extracting(Finding::check).containsOnly(Check.OVER_COMMIT);
    assertThat(h.history.findings().getFirst().text()).contains("11 slots");
    assertThat(h.history.findings().getLast().text()).contains("40961 MiB");
  }

  @Test
  void whoHasEndedOrIsGoneHoldsNothing() {
    h.pod("u1", "p1", half).bound(claim(half, 0)).phase("Succeeded");
    h.pod("u2", "p2", half).bound(claim(half, 0)).phase("Failed");
    h.pod("u3", "p3", half).bound(claim(half, 0)).gone();
    h.pod("u4", "p4", half).bound(claim(half, 0));
    h.pod("u5", "p5", half).bound(claim(half, 0));
    assertThat(h.history.findings()).isEmpty();
  }

  @Test
  void initContainersCountWithTheirLargestBesideTheAppsAndSidecarsAlways() {
    ContainerDemand first = init("first", 1, 60, 100);
    ContainerDemand second = init("second", 1, 70, 200);
    ContainerDemand side = sidecar("side", 1, 20, 300);
    ContainerDemand main = app("main", 1, 40, 400);
    h.pod("u1", "p1", first, second, side, main)
        .bound(claim(first, 0), claim(second, 0), claim(side, 0), claim(main, 0));
    ContainerDemand rest = app("main", 1, 10, 100);
    h.pod("u2", "p2", rest).bound(claim(rest, 0)); // 20 + max(40, 70) + 10 = 100
    assertThat(h.history.findings()).isEmpty();
    ContainerDemand more = app("main", 1, 1, 100);
    h.pod("u3", "p3", more).bound(claim(more, 0));
    assertThat(h.history.findings()).extracting(Finding::check).containsExactly(Check.OVER_COMMIT);
  }

  @Test
  void claimThatChangesIsFound() {
    h.pod("u1", "p1", half).bound(claim(half, 0)).bound(claim(half, 1));
    assertThat(h.history.findings())
        .extracting(Finding::text)
        .anyMatch(t -> t.startsWith("claim of p1 changed from"));
  }

  @Test
  void claimThatVanishesIsFound() {
    h.pod("u1", "p1", half).bound(claim(half, 0)).boundWithoutClaim();
    assertThat(h.history.findings())
        .extracting(Finding::text)
        .anyMatch(t -> t.contains("changed") && t.contains("(nothing)"));
  }

  @Test
  void boundWithoutClaimIsFoundButNotForThePodsWithoutPlugin() {
    h.pod("u1", "p1").boundWithoutClaim();
    h.pod("u2", "early-0").boundWithoutClaim();
    assertThat(h.history.findings())
        .extracting(Finding::uid)
        .containsExactly(java.util.Optional.of("u1"));
  }

  @Test
  void replacementOfAPodWithoutPluginNeedsItsClaim() {
    h.pod("u1", "early-0").boundWithoutClaim().gone();
    h.pod("u2", "early-0").replaces("u1").boundWithoutClaim();
    assertThat(h.history.findings())
        .singleElement()
        .satisfies(f -> assertThat(f.uid()).contains("u2"));
  }

  @Test
  void claimThatIsNotWhatWasAskedForIsFound() {
    ContainerDemand two = app("main", 2, 50, 20_000);
    h.pod("u1", "p1", two).bound(claim(half, 0));
    ContainerDemand less = app("main", 1, 50, 10_000);
    h.pod("u2", "p2", less).bound(claim(half, 1));
    ContainerDemand other = app("other", 1, 50, 20_000);
    h.pod("u3", "p3", other).bound(claim(half, 2));
    assertThat(h.history.findings())
        .hasSize(3)
        .allSatisfy(f -> assertThat(f.check()).isEqualTo(Check.CLAIM));
  }

  @Test
  void cardThatTheNodeHasNotIsFound() {
    h.pod("u1", "p1").boundWith("main[0_GPU-ffffffff_10_1000]");
    assertThat(h.history.findings())
        .extracting(Finding::text)
        .anyMatch(t -> t.contains("a card that the node has not"));
  }

  @Test
  void cardThatThePodDoesNotWantIsFound() {
    String first = BurstNode.uuids().getFirst();
    h.pod("u1", "p1", half).wishing(Names.DEFAULT.excludeGpuUuid(), first).bound(claim(half, 0));
    h.pod("u2", "p2", half).wishing(Names.DEFAULT.includeGpuUuid(), first).bound(claim(half, 1));
    h.pod("u3", "p3", half).wishing(Names.DEFAULT.includeGpuType(), "h100").bound(claim(half, 2));
    h.pod("u4", "p4", half).wishing(Names.DEFAULT.includeGpuType(), "a100,").bound(claim(half, 3));
    h.pod("u5", "p5", half).wishing(Names.DEFAULT.excludeGpuType(), ",").bound(claim(half, 4));
    assertThat(h.history.findings())
        .extracting(f -> f.uid().orElseThrow())
        .containsExactly("u1", "u2", "u3");
  }

  @Test
  void unreadableClaimIsFound() {
    h.pod("u1", "p1").boundWith("main(0)");
    assertThat(h.history.findings())
        .extracting(Finding::text)
        .anyMatch(t -> t.startsWith("unreadable claim"));
  }
}
