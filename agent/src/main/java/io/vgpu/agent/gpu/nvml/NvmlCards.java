package io.vgpu.agent.gpu.nvml;

import com.sun.jna.Memory;
import com.sun.jna.NativeLong;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;
import io.vgpu.agent.gpu.GpuDriverException;
import io.vgpu.agent.gpu.PhysicalGpu;
import io.vgpu.agent.gpu.PhysicalGpu.MigDevice;
import io.vgpu.model.GpuUuid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads what a card is (node-agent.md 1.6, 2.1): once, at discovery. */
final class NvmlCards {
  private static final Logger log = LoggerFactory.getLogger(NvmlCards.class);
  private static final int MAX_CARDS = 1024; // what a claim can name
  private static final int MAX_MIG = 64;
  private static final int AFFINITY_WORDS = 16; // NUMA nodes up to 1023

  private final NvmlLibrary nvml;
  private final Path sysfs;

  NvmlCards(NvmlLibrary nvml, Path sysfs) {
    this.nvml = nvml;
    this.sysfs = sysfs;
  }

  /** A card and the library's handle of it. */
  record Found(PhysicalGpu gpu, Pointer handle, List<Pointer> migHandles) {}

  /**
   * The cards that answered, by index, and the answers that are still waited for. One that answers
   * with an error is in neither.
   */
  record Reading(List<Found> found, Map<Integer, CompletableFuture<Found>> silent) {}

  /**
   * Asks every card on a thread of its own: one whose driver call does not return must not keep the
   * others from being served. One that answers with an error is left out, and said.
   */
  Reading all(Duration limit) {
    IntByReference count = new IntByReference();
    nvml.must(NvmlCall.COUNT, count);
    Map<Integer, CompletableFuture<Found>> asked = new TreeMap<>();
    for (int i = 0; i < Math.min(count.getValue(), MAX_CARDS); i++) {
      asked.put(i, asked(i));
    }
    long end = System.nanoTime() + limit.toNanos();
    List<Found> found = new ArrayList<>();
    Map<Integer, CompletableFuture<Found>> silent = new TreeMap<>();
    asked.forEach(
        (index, answer) -> {
          try {
            found.add(answer.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS));
          } catch (TimeoutException e) {
            log.error(
                "card does not answer, the others are served without it [index: {}, limit: {} s]",
                index,
                limit.toSeconds());
            silent.put(index, answer);
          } catch (ExecutionException e) {
            log.warn(
                "card left out, it cannot be read [index: {}, cause: {}]",
                index,
                e.getCause() == null ? e.toString() : e.getCause().getMessage());
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the cards were read", e);
          }
        });
    return new Reading(List.copyOf(found), silent);
  }

  private CompletableFuture<Found> asked(int index) {
    CompletableFuture<Found> answer = new CompletableFuture<>();
    // no pool: a thread that hangs in the driver is lost
    Thread.ofPlatform()
        .daemon()
        .name("nvml-start-" + index)
        .start(
            () -> {
              try {
                answer.complete(card(index, nvml.handle(NvmlCall.HANDLE_BY_INDEX, index)));
              } catch (GpuDriverException | IllegalArgumentException e) {
                answer.completeExceptionally(e);
              }
            });
    return answer;
  }

  private Found card(int index, Pointer device) {
    IntByReference major = new IntByReference();
    IntByReference minor = new IntByReference();
    nvml.must(NvmlCall.CAPABILITY, device, major, minor);
    String busId = busId(nvml.struct(NvmlCall.PCI, device, NvmlStructs.PCI_BYTES));
    boolean mig = migOn(device);
    List<MigDevice> slices = new ArrayList<>();
    List<Pointer> sliceHandles = new ArrayList<>();
    if (mig) {
      readSlices(device, slices, sliceHandles);
    }
    OptionalInt cores = nvml.numberIfTold(NvmlCall.CORES, device);
    PhysicalGpu gpu =
        new PhysicalGpu(
            index,
            nvml.number(NvmlCall.MINOR, device),
            new GpuUuid(nvml.text(NvmlCall.UUID, device)),
            nvml.text(NvmlCall.NAME, device),
            totalMemory(device),
            busId,
            numa(device, busId),
            Float.parseFloat(major.getValue() + "." + minor.getValue()),
            cores.isPresent() ? smCount(cores.getAsInt(), major.getValue(), minor.getValue()) : 0,
            mig,
            slices);
    return new Found(gpu, device, List.copyOf(sliceHandles));
  }

  private long totalMemory(Pointer device) {
    return nvml.struct(NvmlCall.MEMORY, device, NvmlStructs.MEMORY_BYTES)
        .getLong(NvmlStructs.MEMORY_TOTAL);
  }

  /**
   * Lower case, one leading {@code 0000} removed: {@code 00000000:3B:00.0} is {@code 0000:3b:00.0}.
   */
  static String busId(Memory pci) {
    return publishedBusId(pci.getString(NvmlStructs.PCI_BUS_ID));
  }

  static String publishedBusId(String nvmlBusId) {
    String lower = nvmlBusId.toLowerCase(Locale.ROOT);
    return lower.startsWith("0000") ? lower.substring(4) : lower;
  }

  private boolean migOn(Pointer device) {
    IntByReference current = new IntByReference();
    IntByReference pending = new IntByReference();
    return nvml.code(NvmlCall.MIG_MODE, device, current, pending) == NvmlLibrary.SUCCESS
        && current.getValue() == 1;
  }

  private void readSlices(Pointer card, List<MigDevice> slices, List<Pointer> handles) {
    int max = nvml.numberIfTold(NvmlCall.MAX_MIG_COUNT, card).orElse(0);
    for (int i = 0; i < Math.min(max, MAX_MIG); i++) {
      PointerByReference out = new PointerByReference();
      if (nvml.code(NvmlCall.MIG_HANDLE_BY_INDEX, card, i, out) != NvmlLibrary.SUCCESS) {
        continue; // no slice at this place
      }
      Pointer slice = out.getValue();
      Memory attributes = NvmlLibrary.zeroed(NvmlStructs.ATTRIBUTES_BYTES);
      if (nvml.code(NvmlCall.ATTRIBUTES, slice, attributes) != NvmlLibrary.SUCCESS) {
        attributes.clear(); // its size is then not known: zeros say so
      }
      slices.add(
          new MigDevice(
              new GpuUuid(nvml.text(NvmlCall.UUID, slice)),
              profile(nvml.text(NvmlCall.NAME, slice)),
              nvml.number(NvmlCall.GPU_INSTANCE, slice),
              nvml.number(NvmlCall.COMPUTE_INSTANCE, slice),
              attributes.getInt(NvmlStructs.ATTRIBUTES_MULTIPROCESSORS),
              attributes.getLong(NvmlStructs.ATTRIBUTES_MEMORY_MIB)));
      handles.add(slice);
    }
  }

  /** The driver names a slice {@code <card> MIG <profile>}. */
  private static String profile(String name) {
    int at = name.lastIndexOf("MIG ");
    return at < 0 ? name : name.substring(at + 4).strip();
  }

  private int numa(Pointer device, String busId) {
    Path file = sysfs.resolve("bus/pci/devices").resolve(busId).resolve("numa_node");
    try {
      return Math.max(-1, Integer.parseInt(Files.readString(file).strip()));
    } catch (IOException | NumberFormatException e) {
      log.debug("no NUMA node in sysfs [file: {}, cause: {}]", file, e.toString());
    }
    OptionalInt own = nvml.numberIfTold(NvmlCall.NUMA_NODE_ID, device);
    return own.isPresent() ? own.getAsInt() : nearestMemory(device);
  }

  /** The lowest NUMA node whose memory is near. */
  private int nearestMemory(Pointer device) {
    Memory mask = NvmlLibrary.zeroed(AFFINITY_WORDS * NativeLong.SIZE);
    if (nvml.code(NvmlCall.MEMORY_AFFINITY, device, AFFINITY_WORDS, mask, 0)
        != NvmlLibrary.SUCCESS) {
      return -1;
    }
    for (int word = 0; word < AFFINITY_WORDS; word++) {
      long bits = mask.getLong((long) word * NativeLong.SIZE);
      if (bits != 0) {
        return word * Long.SIZE + Long.numberOfTrailingZeros(bits);
      }
    }
    return -1;
  }

  /**
   * NVML counts cores; how many make a multiprocessor depends on the architecture. 0: an
   * architecture we do not know.
   */
  static int smCount(int cores, int major, int minor) {
    int perSm =
        switch (major) {
          case 3 -> 192;
          case 5 -> 128;
          case 6 -> minor == 0 ? 64 : 128;
          case 7 -> 64;
          case 8 -> minor == 0 ? 64 : 128;
          case 9, 10, 11, 12 -> 128;
          default -> 0;
        };
    return perSm == 0 ? 0 : cores / perSm;
  }
}
