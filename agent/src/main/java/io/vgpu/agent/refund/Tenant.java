package io.vgpu.agent.refund;

import static io.vgpu.agent.shim.Abi.PERMILLE_FULL;

import io.vgpu.agent.shim.Abi;
import io.vgpu.agent.shim.DeviceLimits;
import io.vgpu.agent.shim.DeviceLimits.Flag;
import io.vgpu.agent.shim.DeviceLoad;
import io.vgpu.agent.shim.OpenContainer;
import io.vgpu.agent.shim.UsageCopy;

/** One attached container on one card: its names in the ledgers, and what its {@code load} says. */
final class Tenant {
  private final OpenContainer container;
  private final int device;
  private final long name;
  private final Utilization utilization = new Utilization();
  private DeviceLoad load;
  private long granted; // by the card's ledger, of what is in load

  /** {@code name}: nobody else's, not 0. */
  Tenant(OpenContainer container, int device, long name) {
    this.container = container;
    this.device = device;
    this.name = name;
    this.load = container.load(device).orElse(DeviceLoad.NONE); // refunds go on from there
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

  private DeviceLimits limits() {
    return container.devices().get(device);
  }

  Look look(UsageCopy usage) {
    DeviceLimits limits = limits();
    boolean limited = limits.flags().contains(Flag.COMPUTE_LIMIT);
    int most =
        limits.flags().contains(Flag.BALANCE)
            ? limits.coreSoftPermille()
            : limits.coreHardPermille();
    return new Look(
        name,
        device,
        container.devices().size(),
        limited ? most : PERMILLE_FULL,
        usage.slotCount(),
        0, // containers share the host's time namespace: region headers say 0
        usage.rawBusyNs(device),
        usage.bucketNs(device),
        usage.slots(),
        usage.rings());
  }

  TurnLook turnLook(UsageCopy usage, long longestSliceNs) {
    DeviceLimits limits = limits();
    boolean limited = limits.flags().contains(Flag.COMPUTE_LIMIT);
    return new TurnLook(
        name,
        works(usage),
        limits.flags().contains(Flag.LATENCY),
        !limited || limits.flags().contains(Flag.BALANCE),
        limited ? limits.coreHardPermille() : PERMILLE_FULL,
        usage.bucketNs(device),
        longestSliceNs);
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

  /** Writes {@code load} anew; says whether there is something for which a sleeper should wake. */
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
    load = next;
    container.updateLoad(device, next);
    return news;
  }

  int device() {
    return device;
  }
}
