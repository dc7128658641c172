package io.vgpu.agent.deviceplugin;

import static io.vgpu.agent.deviceplugin.TestPod.app;
import static io.vgpu.agent.deviceplugin.TestPod.sidecar;
import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.deviceplugin.Ledger.Refusal;
import io.vgpu.agent.deviceplugin.PodEntry.Stage;
import io.vgpu.claim.ClaimCodec;
import io.vgpu.model.Reason;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LedgerTest {
  private static final String RUNS_ON = DeviceIds.of(FixedInventory.uuid(0), 0);
  private static final String OFFERED = DeviceIds.of(FixedInventory.uuid(1), 0);

  /** A sidecar that has its device, and an app container that was refused after the offer. */
  private static Ledger refusedHalfWay() {
    TestPod pod = TestPod.of("p", sidecar("side", 0), app("main", 1));
    PodEntry entry =
        new PodEntry(
                pod.ref(),
                ClaimCodec.decode(pod.node().annotation(TestPod.NAMES.preAllocated())),
                "",
                "",
                false,
                PodEntry.turns(pod.demand()),
                Map.of(),
                false)
            .with("side", Set.of(RUNS_ON), Stage.ATTACHED)
            .with("main", Set.of(OFFERED), Stage.PROPOSED);
    return Ledger.EMPTY
        .with(entry)
        .withRefusal(new Refusal(pod.ref(), Reason.CLAIM_UNSATISFIABLE, "x"));
  }

  @Test
  void librariesInUseAreToldOnlyWhenAllAreKnown() {
    TestPod pod = TestPod.of("p", sidecar("side", 0), app("main", 1));
    Ledger unknown = refusedHalfWay();
    assertThat(unknown.librariesInUse()).as("a note of an older release").isEmpty();
    PodEntry entry = unknown.entry(pod.ref().uid()).orElseThrow();
    Ledger known = unknown.with(entry.attached("side", Set.of(RUNS_ON), "so.1"));
    assertThat(known.librariesInUse()).contains(Set.of("so.1"));
    assertThat(LedgerCodec.decode(LedgerCodec.encode(known))).isEqualTo(known);
    assertThat(known.withEnded(e -> true).librariesInUse()).contains(Set.of());
  }

  @Test
  void aRefusedPodKeepsWhatItsContainersMayRunOnUntilItIsOver() {
    Ledger ledger = refusedHalfWay();
    assertThat(ledger.heldByAnother(RUNS_ON, "other")).isTrue();
    assertThat(ledger.heldByAnother(OFFERED, "other")).as("only offered").isFalse();
    assertThat(ledger.heldByAnother(RUNS_ON, "uid-p")).as("by itself").isFalse();
    assertThat(ledger.withEnded(e -> true).heldByAnother(RUNS_ON, "other")).isFalse();
    assertThat(ledger.without(Set.of("uid-p")).heldByAnother(RUNS_ON, "other")).isFalse();
  }
}
