package io.vgpu.event;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import io.vertx.junit5.VertxExtension;
import io.vertx.junit5.VertxTestContext;
import io.vgpu.event.VgpuEvent.ClaimReleased;
import io.vgpu.event.wire.EventBusPort;
import io.vgpu.model.ContainerRef;
import io.vgpu.model.PodRef;
import java.time.Instant;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(VertxExtension.class)
class EventTypesTest {
  @Test
  void everyFactHasExactlyOneType() {
    assertThat(EventTypes.ALL)
        .extracting(EventType::type)
        .hasSize(EventTypes.ALL.size())
        .doesNotHaveDuplicates();
    assertThat(Arrays.asList(VgpuEvent.class.getPermittedSubclasses()))
        .containsExactlyInAnyOrderElementsOf(
            EventTypes.ALL.stream().<Class<?>>map(EventType::type).toList());
  }

  @Test
  void namesAreVersionedPastTenseAndDistinct() {
    assertThat(EventTypes.ALL)
        .extracting(EventType::name)
        .allMatch(n -> n.matches("[a-z-]+(ed)\\.v[0-9]+"))
        .doesNotHaveDuplicates();
  }

  @Test
  void aPublishedFactReachesItsSubscriberAsItIs(Vertx vertx, VertxTestContext test) {
    EventBusPort bus = new EventBusPort(vertx);
    var fact =
        new ClaimReleased(
            Instant.EPOCH, "n0", new ContainerRef(new PodRef("ns", "p", "u"), "main"));
    bus.on(
        EventTypes.CLAIM_RELEASED,
        heard ->
            test.verify(
                () -> {
                  assertThat(heard).isSameAs(fact);
                  test.completeNow();
                }));
    bus.publish(fact);
  }
}
