package io.vgpu.agent.testing;

import io.vgpu.agent.gpu.CardSample;
import io.vgpu.agent.gpu.DriverInfo;
import io.vgpu.agent.gpu.GpuDriver;
import io.vgpu.agent.gpu.GpuDriverException;
import io.vgpu.agent.gpu.GpuProcess;
import io.vgpu.agent.gpu.HealthEvent;
import io.vgpu.agent.gpu.PhysicalGpu;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.NodeTopology;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * Cards in memory, for tests that need no native code: samples, hangs and events as the test says.
 * Any thread.
 */
public final class FakeGpuDriver implements GpuDriver {
  private final List<PhysicalGpu> gpus;
  private final LinkedBlockingQueue<HealthEvent> events = new LinkedBlockingQueue<>();
  private final Map<GpuUuid, CountDownLatch> hanging = new ConcurrentHashMap<>();
  private final Map<GpuUuid, Integer> failing = new ConcurrentHashMap<>();
  private final Map<GpuUuid, List<GpuProcess>> processes = new ConcurrentHashMap<>();

  /** Equal cards of 40 GiB, half of them on each of two NUMA nodes. */
  public FakeGpuDriver(int count) {
    gpus = IntStream.range(0, count).mapToObj(i -> gpu(i, count)).toList();
  }

  private static PhysicalGpu gpu(int index, int count) {
    return new PhysicalGpu(
        index,
        index,
        uuid(index),
        "NVIDIA A100-SXM4-40GB",
        40L << 30,
        String.format(Locale.ROOT, "0000:%02x:00.0", index + 1),
        index * 2 / Math.max(count, 2),
        8.0f,
        108,
        false,
        List.of());
  }

  /** The UUID of a card by index. */
  public static GpuUuid uuid(int index) {
    return new GpuUuid(String.format(Locale.ROOT, "GPU-00000000-0000-0000-0000-%012d", index));
  }

  /** From now on these compute on the card. */
  public void compute(GpuUuid gpu, GpuProcess... now) {
    processes.put(gpu, List.of(now));
  }

  /** From now on a call on the card does not return before {@link #release}. */
  public void hang(GpuUuid gpu) {
    hanging.put(gpu, new CountDownLatch(1));
  }

  /** Ends {@link #hang}. */
  public void release(GpuUuid gpu) {
    CountDownLatch latch = hanging.remove(gpu);
    if (latch != null) {
      latch.countDown();
    }
  }

  /** From now on a call on the card fails with this code. */
  public void fail(GpuUuid gpu, int code) {
    failing.put(gpu, code);
  }

  /** The next {@link #awaitHealthEvent} gives this. */
  public void post(HealthEvent event) {
    events.add(event);
  }

  @Override
  public DriverInfo info() {
    return new DriverInfo("550.163.01", "12.550.163.01", 12040);
  }

  @Override
  public List<PhysicalGpu> discover() {
    return gpus;
  }

  @Override
  public NodeTopology topology() {
    TreeMap<Integer, java.util.SortedMap<Integer, List<Integer>>> links = new TreeMap<>();
    for (PhysicalGpu a : gpus) {
      TreeMap<Integer, List<Integer>> peers = new TreeMap<>();
      for (PhysicalGpu b : gpus) {
        if (a != b) {
          peers.put(b.index(), List.of(a.numa() == b.numa() ? 2 : 1));
        }
      }
      links.put(a.index(), peers);
    }
    return new NodeTopology(links);
  }

  @Override
  public CardSample sample(GpuUuid gpu) {
    PhysicalGpu card = answering(gpu);
    return new CardSample(gpu, System.nanoTime(), 10 * card.index(), 1L << 30, card.memoryBytes());
  }

  @Override
  public List<GpuProcess> processes(GpuUuid gpu) {
    PhysicalGpu card = answering(gpu);
    return processes.getOrDefault(card.uuid(), List.of());
  }

  private PhysicalGpu answering(GpuUuid gpu) {
    CountDownLatch latch = hanging.get(gpu);
    if (latch != null) {
      try {
        latch.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    Integer code = failing.get(gpu);
    PhysicalGpu card = gpus.stream().filter(g -> g.uuid().equals(gpu)).findFirst().orElse(null);
    if (code != null || card == null) {
      throw new GpuDriverException("the call", code == null ? 6 : code, "as the test says");
    }
    return card;
  }

  @Override
  public Optional<HealthEvent> awaitHealthEvent(Duration timeout) {
    try {
      return Optional.ofNullable(events.poll(timeout.toMillis(), TimeUnit.MILLISECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }

  @Override
  public void close() {
    List.copyOf(hanging.keySet()).forEach(this::release);
  }
}
