package io.vgpu.agent.refund;

import static io.vgpu.agent.shim.Abi.PERMILLE_FULL;

import io.vgpu.agent.shim.Abi;
import io.vgpu.agent.shim.DeviceLimits;
import io.vgpu.agent.shim.DeviceLimits.Flag;
import io.vgpu.agent.shim.DeviceLoad;
import io.vgpu.agent.shim.DriverMemory;
import io.vgpu.agent.shim.OpenContainer;
import io.vgpu.agent.shim.UsageCopy;

/** One attached container on one card: its names in the ledgers, and what its {@code load} says. */
final class Tenant {
  /**
   * Figures for people and the age by which the library knows that we live: after two looks of
   * cards that are not shared they are fresh enough.
   */
  private static final long REPEAT_NS = RefundRound.SLOW_NS - RefundRound.SLACK_NS;

  private final OpenContainer container;
  private final int device;
  private final long name;
  private final int deviceCount;
  private final boolean latency;
  private final boolean borrows;
  private final int permille;
  private final int mostPermille;
  private final Utilization utilization = new Utilization();
  private DeviceLoad load;
  private long granted; // by the card's ledger, of what is in load
  private long writtenNs; // when load was last written; 0: not by us

  /** {@code name}: nobody else's, not 0. */
  Tenant(OpenContainer container, int device, long name) {
    this.container = container;
    this.device = device;
    this.name = name;
    this.load = container.load(device).orElse(DeviceLoad.NONE); // refunds go on from there
    DeviceLimits limits = container.devices().get(device);
    boolean limited = limits.flags().contains(Flag.COMPUTE_LIMIT);
    boolean balanced = limits.flags().contains(Flag.BALANCE);
    this.deviceCount = container.devices().size();
    this.latency = limits.flags().contains(Flag.LATENCY);
    this.borrows = !limited || balanced;
    this.permille = limited ? limits.coreHardPermille() : PERMILLE_FULL;
    this.mostPermille = limited && balanced ? limits.coreSoftPermille() : permille;
  }

  boolean is(OpenContainer other, int index) {
    return container == other && device == index;
  }

  OpenContainer container() {
    return container;
  }

  long name() {
    return name;
  }

  Look look(UsageCopy usage) {
    return new Look(
        name,
        device,
        deviceCount,
        mostPermille,
        usage.slotCount(),
        0, // containers share the host's time namespace: region headers say 0
        usage.rawBusyNs(device),
        usage.bucketNs(device),
        usage.slots(),
        usage.rings());
  }

  TurnLook turnLook(UsageCopy usage, long longestSliceNs) {
    return new TurnLook(
        name, works(usage), latency, borrows, permille, usage.bucketNs(device), longestSliceNs);
  }

  private boolean works(UsageCopy usage) {
    for (int k = 0; k < usage.slotCount(); k++) {
      int slot = k * Abi.SLOT_BYTES;
      if (usage.slots().getInt(slot + Abi.UsageSlot.STATE) == Abi.SLOT_LIVE
          && usage.slots().getLong(slot + Abi.UsageSlot.OPEN_SINCE_NS) != 0
          && usage.slots().getInt(slot + Abi.UsageSlot.INFLIGHT_US + device * Integer.BYTES) != 0) {
        return true;
      }
    }
    return false;
  }

  /**
   * Writes {@code load} anew when there is something that the library acts upon, or when what it
   * says is {@link #REPEAT_NS} old; says whether a sleeper should wake.
   */
  boolean write(
      RefundLedger.Account account, Turn turn, UsageCopy usage, int cardPermille, long nowNs) {
    long more = account.refundNs() - granted;
    granted = account.refundNs();
    DeviceLoad next =
        new DeviceLoad(
            cardPermille,
            utilization.look(nowNs, usage.rawBusyNs(device), account.refundNs()),
            account.othersActive(),
            nowNs,
            container.memory(device),
            load.refundNs() + more,
            turn.periodUs(),
            turn.offsetUs(),
            turn.lengthUs());
    boolean news =
        more != 0
            || next.othersActive() != load.othersActive()
            || next.turnPeriodUs() != load.turnPeriodUs()
            || next.turnOffsetUs() != load.turnOffsetUs()
            || next.turnLengthUs() != load.turnLengthUs();
    if (news || isOther(next.memory(), load.memory()) || nowNs - writtenNs >= REPEAT_NS) {
      load = next;
      writtenNs = nowNs;
      container.updateLoad(device, next);
    }
    return news;
  }

  @SuppressWarnings("ReferenceEquality") // mostly the same object
  private static boolean isOther(DriverMemory a, DriverMemory b) {
    return a != b && !a.equals(b);
  }

  int device() {
    return device;
  }
}
