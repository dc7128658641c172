package io.vgpu.agent.refund;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.gpu.CardSamples;
import io.vgpu.agent.gpu.PhysicalGpu;
import io.vgpu.agent.posix.Futex;
import io.vgpu.agent.shim.Abi;
import io.vgpu.agent.shim.DeviceLimits;
import io.vgpu.agent.shim.DriverMemory;
import io.vgpu.agent.testing.ContainersOnDisk;
import io.vgpu.model.ContainerRef;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.PodRef;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * From the files that containers write to the files that they read, through the agent's own lanes.
 */
class RefundRoundTest {
  private static final GpuUuid CARD = new GpuUuid("GPU-11111111-2222-3333-4444-555555555555");
  private static final GpuUuid OTHER = new GpuUuid("GPU-99999999-2222-3333-4444-555555555555");
  private static final long T = 100_000_000_000L;

  @TempDir Path root;
  private ContainersOnDisk disk;
  private RefundRound round;
  private long now;

  @BeforeEach
  void start() throws Exception {
    disk = new ContainersOnDisk(root);
    round = newRound();
    now = T - 1_000_000_000;
  }

  @AfterEach
  void stop() throws Exception {
    disk.close();
  }

  private RefundRound newRound() {
    PhysicalGpu gpu =
        new PhysicalGpu(
            7, 7, CARD, "NVIDIA H200", 1L << 36, "0:0", -1, 9.0f, 132, false, List.of());
    return new RefundRound(
        List.of(gpu), new CardSamples(), new Futex(), () -> now, new RefundMeters(disk.meters()));
  }

  /** After how long the next look should be. */
  private long look(long at) throws Exception {
    now = at;
    return ContainersOnDisk.await(disk.shim().round(round::run));
  }

  /** A container's files, written as its library does. */
  private final class Container {
    final ContainerRef who;
    final ContainersOnDisk.OnDisk files;
    final int device;
    long head;
    long raw;

    Container(int number, int device, DeviceLimits... devices) throws Exception {
      who = new ContainerRef(new PodRef("ns", "p" + number, "pod-" + number), "main");
      this.device = device;
      files = disk.attach(who, devices);
      usage(Abi.Header.SLOT_HIGH_WATER, 1, Integer.BYTES);
      usage(Abi.SLOTS_OFFSET + Abi.UsageSlot.STATE, Abi.SLOT_LIVE, Integer.BYTES);
    }

    void usage(long at, long value, int bytes) throws Exception {
      files.usage(at, value, bytes);
    }

    void attachAgain(DeviceLimits... devices) throws Exception {
      var unused = disk.attach(who, devices);
    }

    void post(long startNs, int lengthUs) throws Exception {
      raw += lengthUs * 1000L;
      long at = Abi.RINGS_OFFSET + Abi.Ring.ENTRIES + head % Abi.RING_ENTRIES * Abi.Interval.SIZEOF;
      usage(Abi.Usage.DEVICES + device * Abi.USAGE_STRIDE + Abi.UsageDevice.RAW_BUSY_NS, raw, 8);
      usage(at + Abi.Interval.START_NS, startNs, 8);
      usage(at + Abi.Interval.LENGTH_US, lengthUs, 4);
      usage(at + Abi.Interval.DEVICE, device, 4);
      usage(Abi.RINGS_OFFSET + Abi.Ring.HEAD, ++head, 8);
    }

    ByteBuffer load() throws Exception {
      return files.load(device);
    }

    long refundNs() throws Exception {
      return load().getLong(Abi.LoadDevice.REFUND_NS);
    }

    int othersActive() throws Exception {
      return load().getInt(Abi.LoadDevice.OTHERS_ACTIVE);
    }
  }

  private static DeviceLimits limits(GpuUuid uuid, int permille) {
    return new DeviceLimits(
        uuid, 7, 132, Set.of(DeviceLimits.Flag.COMPUTE_LIMIT), 1, 1, permille, permille);
  }

  @Test
  void aLongSliceIsRefundedForItsNeighboursInIt() throws Exception {
    Container brief = new Container(1, 1, limits(OTHER, 100), limits(CARD, 500));
    Container slow = new Container(2, 0, limits(CARD, 250));
    assertThat(look(now)).isEqualTo(RefundRound.SLOW_NS);

    for (long at : new long[] {2_266_000, 5_407_000, 8_548_000}) {
      brief.post(T + at, 740);
    }
    slow.post(T, 10_540);
    assertThat(look(T + 11_000_000))
        .as("shared: the next round is soon")
        .isLessThanOrEqualTo(NextLook.CALM_NS);

    assertThat(slow.refundNs()).isEqualTo(3_240_000);
    assertThat(brief.refundNs()).isZero();
    assertThat(slow.othersActive()).isEqualTo(1);
    assertThat(brief.othersActive()).isEqualTo(1);
    assertThat(slow.load().getInt(Abi.LoadDevice.SEQ) % 2).isZero();
    assertThat(slow.load().getLong(Abi.LoadDevice.SAMPLE_NS)).isEqualTo(T + 11_000_000);
    assertThat(slow.load().getInt(Abi.LoadDevice.CONTAINER_UTIL_PERMILLE)).isBetween(6, 8);
    assertThat(disk.meters().scrape())
        .contains("vgpu_refund_seconds_total{device_idx=\"7\"} 0.00324")
        .contains("vgpu_refund_intervals_total{device_idx=\"7\",result=\"settled\"} 4.0");

    assertThat(look(T + 300_000_000))
        .as("nobody is active any more")
        .isEqualTo(RefundRound.SLOW_NS);
    assertThat(slow.othersActive()).isZero();
  }

  @Test
  void refundsGoOnWhereAnAgentBeforeHasLeftThem() throws Exception {
    Container brief = new Container(1, 0, limits(CARD, 500));
    Container slow = new Container(2, 0, limits(CARD, 250));
    look(now);
    brief.post(T + 2_225_000, 740);
    slow.post(T, 9_380);
    look(T + 10_000_000);
    assertThat(slow.refundNs()).isEqualTo(1_080_000);

    round = newRound();
    look(T + 109_000_000);
    assertThat(slow.refundNs()).as("nothing is lost or given twice").isEqualTo(1_080_000);
    brief.post(T + 112_225_000, 740);
    slow.post(T + 110_000_000, 9_380);
    look(T + 210_000_000);
    assertThat(slow.refundNs()).isEqualTo(2 * 1_080_000);
  }

  @Test
  void whatWasMeasuredOfItsMemoryGoesIntoLoad() throws Exception {
    Container one = new Container(1, 0, limits(CARD, 500));
    DriverMemory measured = new DriverMemory(900 << 20, 480 << 20, 7);
    ContainersOnDisk.await(
        disk.shim()
            .round(
                all -> {
                  all.forEach(c -> c.memory(0, measured));
                  return true;
                }));
    look(now);
    ByteBuffer load = one.load();
    assertThat(load.getLong(Abi.LoadDevice.CONTAINER_NVML_BYTES)).isEqualTo(900 << 20);
    assertThat(load.getLong(Abi.LoadDevice.CONTEXT_BYTES)).isEqualTo(480 << 20);
    assertThat(load.getInt(Abi.LoadDevice.CONTEXT_SAMPLE)).isEqualTo(7);

    one.attachAgain(limits(CARD, 500)); // as after a restart of the agent
    round = newRound();
    look(T);
    assertThat(one.load().getLong(Abi.LoadDevice.CONTEXT_BYTES)).isEqualTo(480 << 20);
    assertThat(one.load().getInt(Abi.LoadDevice.CONTEXT_SAMPLE)).isEqualTo(7);
  }

  @Test
  void oneThatCutsItsFileShortHarmsNobodyElse() throws Exception {
    Container brief = new Container(1, 0, limits(CARD, 500));
    Container slow = new Container(2, 0, limits(CARD, 250));
    Container hostile = new Container(3, 0, limits(CARD, 250));
    look(now);
    try (FileChannel out = FileChannel.open(hostile.files.usage(), StandardOpenOption.WRITE)) {
      out.truncate(100);
    }
    brief.post(T + 2_225_000, 740);
    slow.post(T, 9_380);
    look(T + 10_000_000);
    assertThat(slow.refundNs()).isEqualTo(1_080_000);
    assertThat(hostile.refundNs()).isZero();
  }

  @Test
  void aCardThatIsNotSharedIsLookedAtNowAndThen() throws Exception {
    Container alone = new Container(1, 0, limits(CARD, 500));
    look(T);
    look(T + 5_000_000);
    assertThat(alone.load().getLong(Abi.LoadDevice.SAMPLE_NS)).isEqualTo(T);
    look(T + 100_000_000);
    assertThat(alone.load().getLong(Abi.LoadDevice.SAMPLE_NS)).isEqualTo(T + 100_000_000);
  }

  @Test
  void onASharedCardWhoeverHasNoProcessYetIsLookedAtNowAndThen() throws Exception {
    Container a = new Container(1, 0, limits(CARD, 300));
    Container b = new Container(2, 0, limits(CARD, 300));
    Container newcomer = new Container(3, 0, limits(CARD, 300));
    newcomer.usage(Abi.Header.SLOT_HIGH_WATER, 0, Integer.BYTES);
    look(now);
    a.post(T + 1_000_000, 740);
    b.post(T + 2_000_000, 740);
    assertThat(look(T + 5_000_000)).as("shared").isEqualTo(NextLook.CALM_NS);
    look(T + 25_000_000);

    newcomer.usage(Abi.SLOTS_OFFSET + Abi.UsageSlot.OPEN_SINCE_NS, T + 31_000_000, 8);
    newcomer.usage(Abi.Header.SLOT_HIGH_WATER, 1, Integer.BYTES);
    assertThat(look(T + 45_000_000)).isEqualTo(NextLook.CALM_NS);
    assertThat(a.othersActive()).as("not read yet").isEqualTo(1);
    a.post(T + 90_000_000, 740);
    b.post(T + 92_000_000, 740);
    look(T + 105_000_000);
    assertThat(a.othersActive()).as("read within 100 ms").isEqualTo(2);
    assertThat(newcomer.othersActive()).isEqualTo(2);

    newcomer.usage(Abi.SLOTS_OFFSET + Abi.UsageSlot.OPEN_SINCE_NS, 0, 8);
    look(T + 125_000_000);
    assertThat(a.othersActive()).as("from now on in every round").isEqualTo(1);
  }

  @Test
  void backloggedContainersGetTurns() throws Exception {
    Container a = new Container(1, 0, limits(CARD, 300));
    Container b = new Container(2, 0, limits(CARD, 300));
    for (Container c : List.of(a, b)) {
      c.usage(Abi.Usage.DEVICES + Abi.UsageDevice.BUCKET_NS, 5_000_000, 8);
      c.usage(Abi.SLOTS_OFFSET + Abi.UsageSlot.OPEN_SINCE_NS, T - 2_000_000_000, 8);
      c.usage(Abi.SLOTS_OFFSET + Abi.UsageSlot.INFLIGHT_US, 700, 4);
    }
    for (long at = T; at <= T + 300_000_000; at += 5_000_000) {
      look(at);
    }
    assertThat(a.load().getInt(Abi.LoadDevice.TURN_PERIOD_US)).isEqualTo(20_000);
    assertThat(a.load().getInt(Abi.LoadDevice.TURN_LENGTH_US)).isEqualTo(10_000);
    assertThat(b.load().getInt(Abi.LoadDevice.TURN_LENGTH_US)).isEqualTo(10_000);
    assertThat(
            Math.abs(
                a.load().getInt(Abi.LoadDevice.TURN_OFFSET_US)
                    - b.load().getInt(Abi.LoadDevice.TURN_OFFSET_US)))
        .isEqualTo(10_000);
  }
}
