package io.vgpu.agent.gpu.nvml;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import io.vgpu.agent.gpu.CardSample;
import io.vgpu.agent.gpu.DriverInfo;
import io.vgpu.agent.gpu.GpuDriver;
import io.vgpu.agent.gpu.GpuDriverException;
import io.vgpu.agent.gpu.GpuProcess;
import io.vgpu.agent.gpu.HealthEvent;
import io.vgpu.agent.gpu.PhysicalGpu;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.NodeTopology;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * The cards of this node through NVML, initialised once and kept. The list of cards is read once,
 * at opening; what can change (samples, events) asks the library each time. Contract: {@link
 * GpuDriver}.
 */
public final class NvmlGpuDriver implements GpuDriver {
  private static final int NOT_FOUND = 6;

  private final NvmlLibrary nvml;
  private final List<NvmlCards.Found> cards;
  private final List<PhysicalGpu> discovered;
  private final Map<GpuUuid, Pointer> handles = new ConcurrentHashMap<>();
  private final Map<GpuUuid, CompletableFuture<NvmlCards.Found>> silent = new ConcurrentHashMap<>();
  private final NvmlEvents events;
  private final LongSupplier nanoTime;

  private NvmlGpuDriver(
      NvmlLibrary nvml,
      Path sysfs,
      LongSupplier nanoTime,
      List<PhysicalGpu> remembered,
      Duration limit) {
    this.nvml = nvml;
    this.nanoTime = nanoTime;
    NvmlCards.Reading reading = new NvmlCards(nvml, sysfs).all(limit);
    this.cards = reading.found();
    cards.forEach(this::keep);
    List<PhysicalGpu> known = new ArrayList<>(cards.stream().map(NvmlCards.Found::gpu).toList());
    for (PhysicalGpu g : remembered) {
      CompletableFuture<NvmlCards.Found> answer = reading.silent().get(g.index());
      if (answer != null) {
        known.add(g);
        silent.put(g.uuid(), answer);
        g.migDevices().forEach(m -> silent.put(m.uuid(), answer));
      }
    }
    known.sort(Comparator.comparingInt(PhysicalGpu::index));
    this.discovered = List.copyOf(known);
    this.events = new NvmlEvents(nvml, cards);
  }

  private void keep(NvmlCards.Found c) {
    handles.put(c.gpu().uuid(), c.handle());
    for (int i = 0; i < c.gpu().migDevices().size(); i++) {
      handles.put(c.gpu().migDevices().get(i).uuid(), c.migHandles().get(i));
    }
  }

  /**
   * Finds the library below {@code driverRoot} (or by name), initialises it and reads the cards.
   *
   * @param sysfs where NUMA nodes of PCI slots are read
   * @param nanoTime a monotonic clock for samples
   * @param remembered cards of this boot: one of these that does not answer now is discovered as it
   *     was, see {@link #silent}
   * @param limit how long a card may take to answer
   */
  public static NvmlGpuDriver open(
      Path driverRoot,
      Path sysfs,
      LongSupplier nanoTime,
      List<PhysicalGpu> remembered,
      Duration limit) {
    return load(DriverRoot.library(driverRoot), sysfs, nanoTime, remembered, limit);
  }

  static NvmlGpuDriver load(
      String library,
      Path sysfs,
      LongSupplier nanoTime,
      List<PhysicalGpu> remembered,
      Duration limit) {
    NvmlLibrary nvml = new NvmlLibrary(library);
    nvml.must(NvmlCall.INIT);
    try {
      return new NvmlGpuDriver(nvml, sysfs, nanoTime, remembered, limit);
    } catch (GpuDriverException e) {
      nvml.code(NvmlCall.SHUTDOWN);
      throw e;
    }
  }

  /**
   * Discovered cards, with their slices, that have not answered yet. A call on one waits until it
   * does; its events are not watched.
   */
  public Set<GpuUuid> silent() {
    return Set.copyOf(silent.keySet());
  }

  @Override
  public DriverInfo info() {
    IntByReference cuda = new IntByReference();
    nvml.must(NvmlCall.CUDA_VERSION, cuda);
    return new DriverInfo(
        nvml.systemText(NvmlCall.DRIVER_VERSION),
        nvml.systemText(NvmlCall.NVML_VERSION),
        cuda.getValue());
  }

  @Override
  public List<PhysicalGpu> discover() {
    return discovered;
  }

  @Override
  public NodeTopology topology() {
    return new NvmlLinks(nvml).topology(cards);
  }

  @Override
  public CardSample sample(GpuUuid gpu) {
    Pointer device = handle(gpu, NvmlCall.UTILIZATION);
    Memory memory = NvmlLibrary.zeroed(NvmlStructs.MEMORY_V2_BYTES);
    memory.setInt(0, NvmlStructs.MEMORY_V2_VERSION);
    long total;
    long used;
    if (nvml.code(NvmlCall.MEMORY_V2, device, memory) == NvmlLibrary.SUCCESS) {
      total = memory.getLong(NvmlStructs.MEMORY_V2_TOTAL);
      used = memory.getLong(NvmlStructs.MEMORY_V2_USED);
    } else {
      Memory first = nvml.struct(NvmlCall.MEMORY, device, NvmlStructs.MEMORY_BYTES);
      total = first.getLong(NvmlStructs.MEMORY_TOTAL);
      used = first.getLong(NvmlStructs.MEMORY_USED);
    }
    return new CardSample(gpu, nanoTime.getAsLong(), utilization(device), used, total);
  }

  private Pointer handle(GpuUuid gpu, NvmlCall call) {
    CompletableFuture<NvmlCards.Found> late = silent.get(gpu);
    if (late != null) {
      answered(late);
      silent.remove(gpu);
    }
    Pointer device = handles.get(gpu);
    if (device == null) {
      throw nvml.failure(call, NOT_FOUND);
    }
    return device;
  }

  private void answered(CompletableFuture<NvmlCards.Found> late) {
    try {
      keep(late.join());
    } catch (CompletionException e) {
      throw e.getCause() instanceof GpuDriverException g ? g : e;
    }
  }

  @Override
  public List<GpuProcess> processes(GpuUuid gpu) {
    return new NvmlProcesses(nvml).on(handle(gpu, NvmlCall.PROCESSES));
  }

  private int utilization(Pointer device) {
    Memory rates = NvmlLibrary.zeroed(NvmlStructs.UTILIZATION_BYTES);
    int code = nvml.code(NvmlCall.UTILIZATION, device, rates);
    if (code == NvmlLibrary.NOT_SUPPORTED) {
      return -1;
    }
    if (code != NvmlLibrary.SUCCESS) {
      throw nvml.failure(NvmlCall.UTILIZATION, code);
    }
    return rates.getInt(NvmlStructs.UTILIZATION_GPU);
  }

  @Override
  public Optional<HealthEvent> awaitHealthEvent(Duration timeout) {
    return events.await(timeout);
  }

  @Override
  public void close() {
    events.close();
    nvml.code(NvmlCall.SHUTDOWN);
  }
}
