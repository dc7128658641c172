package io.vgpu.agent.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vgpu.model.GpuUuid;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What every {@link GpuDriver} promises, whatever the cards. */
public abstract class GpuDriverContract {
  protected GpuDriver driver;

  /** A driver of a node with at least one card. */
  protected abstract GpuDriver open() throws IOException;

  /** Makes the card report this error now. */
  protected abstract void raiseXid(GpuUuid gpu, int xid) throws IOException;

  @BeforeEach
  void openDriver() throws IOException {
    driver = open();
  }

  @AfterEach
  void closeDriver() {
    driver.close();
  }

  @Test
  void tellsItsVersions() {
    assertThat(driver.info().driverVersion()).matches("\\d+\\.\\d+(\\.\\d+)?");
    assertThat(driver.info().nvmlVersion()).isNotBlank();
    assertThat(driver.info().cudaMajor()).isBetween(11, 20);
  }

  @Test
  void cardsComeOnceEachInTheOrderOfTheirIndex() {
    List<PhysicalGpu> gpus = driver.discover();
    assertThat(gpus).isNotEmpty();
    assertThat(gpus).extracting(PhysicalGpu::index).isSorted().doesNotHaveDuplicates();
    assertThat(gpus).extracting(PhysicalGpu::uuid).doesNotHaveDuplicates();
    assertThat(gpus).extracting(PhysicalGpu::busId).doesNotHaveDuplicates();
    for (PhysicalGpu g : gpus) {
      assertThat(g.busId()).matches("[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-9a-f]");
      assertThat(g.memoryBytes()).isGreaterThan(1L << 30);
      assertThat(g.name()).isNotBlank();
      assertThat(g.smCount()).isPositive();
      assertThat(g.capability()).isGreaterThanOrEqualTo(5f);
    }
    assertThat(driver.discover()).isEqualTo(gpus);
  }

  @Test
  void linksAreMutualAndLevelsComeFirst() {
    Map<Integer, SortedMap<Integer, List<Integer>>> links = Map.copyOf(driver.topology().links());
    assertThat(links.keySet())
        .containsExactlyInAnyOrderElementsOf(
            driver.discover().stream().map(PhysicalGpu::index).toList());
    links.forEach(
        (a, peers) ->
            peers.forEach(
                (b, types) -> {
                  assertThat(links)
                      .hasEntrySatisfying(b, back -> assertThat(back).containsEntry(a, types));
                  assertThat(types.getFirst()).isBetween(1, 6);
                  assertThat(types.subList(1, types.size())).allMatch(t -> t > 6);
                }));
  }

  @Test
  void everyCardGivesASampleOfItself() {
    for (PhysicalGpu g : driver.discover()) {
      CardSample sample = driver.sample(g.uuid());
      assertThat(sample.gpu()).isEqualTo(g.uuid());
      assertThat(sample.totalBytes()).isEqualTo(g.memoryBytes());
      assertThat(sample.usedBytes()).isBetween(0L, sample.totalBytes());
      assertThat(sample.utilizationPercent()).isBetween(-1, 100);
      assertThat(driver.sample(g.uuid()).nanoTime()).isGreaterThanOrEqualTo(sample.nanoTime());
    }
  }

  @Test
  void anUnknownCardIsRefusedWithTheDriversCode() {
    assertThatThrownBy(() -> driver.sample(new GpuUuid("GPU-unknown")))
        .isInstanceOfSatisfying(GpuDriverException.class, e -> assertThat(e.code()).isEqualTo(6));
  }

  @Test
  void nobodyComputesOnIdleCards() {
    for (PhysicalGpu g : driver.discover()) {
      assertThat(driver.processes(g.uuid())).isEmpty();
    }
    assertThatThrownBy(() -> driver.processes(new GpuUuid("GPU-unknown")))
        .isInstanceOfSatisfying(GpuDriverException.class, e -> assertThat(e.code()).isEqualTo(6));
  }

  @Test
  void aCriticalErrorIsToldOnceWithItsCard() throws IOException {
    assertThat(driver.awaitHealthEvent(Duration.ofMillis(1))).isEmpty();
    GpuUuid last = driver.discover().getLast().uuid();
    raiseXid(last, 79);
    assertThat(next()).contains(new HealthEvent.Xid(Optional.of(last), 79));
    assertThat(driver.awaitHealthEvent(Duration.ofMillis(1))).isEmpty();
  }

  /** Other news may come first; bounded by the number of tries. */
  private Optional<HealthEvent> next() {
    for (int i = 0; i < 10; i++) {
      Optional<HealthEvent> event = driver.awaitHealthEvent(Duration.ofSeconds(1));
      if (event.isPresent()) {
        return event;
      }
    }
    return Optional.empty();
  }
}
