package io.vgpu.control.reschedule.kube;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.vgpu.claim.InventoryCodec;
import io.vgpu.claim.Names;
import io.vgpu.control.reschedule.CardsToLeave;
import io.vgpu.control.reschedule.NodeCards;
import io.vgpu.control.testing.Nodes;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.GpuDevice.Withheld;
import io.vgpu.model.GpuUuid;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which cards are left, and when. */
class CardsToLeaveTest {
  private static final GpuUuid SICK = Nodes.uuid(0);
  private static final GpuUuid DRAINED = Nodes.uuid(3);
  private static final Duration GRACE = Duration.ofMinutes(5);

  private Instant now = Instant.parse("2026-01-01T00:00:00Z");
  private final CardsToLeave cards =
      new CardsToLeave(
          new Clock() {
            @Override
            public ZoneId getZone() {
              return ZoneOffset.UTC;
            }

            @Override
            public Clock withZone(ZoneId zone) {
              return this;
            }

            @Override
            public Instant instant() {
              return now;
            }
          },
          GRACE);

  private static GpuDevice sick(int id, Withheld withheld) {
    GpuDevice d = Nodes.u(4).get(id);
    return new GpuDevice(
        d.id(),
        d.type(),
        d.uuid(),
        d.core(),
        d.memory(),
        d.number(),
        d.numa(),
        d.mig(),
        d.busId(),
        d.capability(),
        false,
        withheld);
  }

  private static Node node(String register) {
    return new NodeBuilder()
        .withNewMetadata()
        .withName("n1")
        .withAnnotations(
            Map.of(
                Names.DEFAULT.nodeDeviceRegister(),
                register,
                Names.DEFAULT.deviceCordon(),
                "{\"GPU-card-1\":{\"mode\":\"cordon\"},"
                    + "\"GPU-card-3\":{\"mode\":\"drain\",\"reason\":\"fan\"}}"))
        .endMetadata()
        .build();
  }

  @Test
  void whatIsCordonedOrExcludedIsInSomebodysHands() {
    String register =
        InventoryCodec.encodeRegister(
            List.of(
                sick(0, Withheld.NO),
                sick(1, Withheld.NO),
                sick(2, Withheld.EXCLUDED),
                Nodes.u(4).get(3)));
    NodeCardsReader reader = new NodeCardsReader(Names.DEFAULT);
    assertThat(reader.of(node(register)))
        .isEqualTo(new NodeCards("n1", Map.of(DRAINED, "fan"), Set.of(SICK)));
    assertThat(reader.of(node("{")).sick()).isEmpty();
  }

  @Test
  void aDrainedCardIsLeftAtOnceAndASickOneAfterItsGrace() {
    cards.changed(new NodeCards("n1", Map.of(DRAINED, "fan"), Set.of(SICK)));
    assertThat(why(DRAINED)).contains("GPU GPU-card-3 is drained: fan");
    assertThat(why(SICK)).isEmpty();
    now = now.plus(GRACE).minusNanos(1);
    cards.changed(new NodeCards("n1", Map.of(), Set.of(SICK)));
    assertThat(why(SICK)).isEmpty();
    assertThat(why(DRAINED)).isEmpty();
    now = now.plusNanos(1);
    assertThat(why(SICK)).contains("GPU GPU-card-0 is unhealthy since 2026-01-01T00:00:00Z");
    assertThat(cards.why("n1", Set.of(SICK), Optional.of(Duration.ofHours(1)))).isEmpty();
    assertThat(cards.why("n2", Set.of(SICK), Optional.empty())).isEmpty();
  }

  @Test
  void aCardThatWasWellInBetweenIsGivenItsGraceAgain() {
    cards.changed(new NodeCards("n1", Map.of(), Set.of(SICK)));
    now = now.plus(GRACE);
    cards.changed(new NodeCards("n1", Map.of(), Set.of()));
    assertThat(cards.nodes()).isEmpty();
    cards.changed(new NodeCards("n1", Map.of(), Set.of(SICK)));
    assertThat(why(SICK)).isEmpty();
    cards.replaced(List.of());
    assertThat(cards.nodes()).isEmpty();
  }

  private Optional<String> why(GpuUuid card) {
    return cards.why("n1", Set.of(card), Optional.empty());
  }
}
