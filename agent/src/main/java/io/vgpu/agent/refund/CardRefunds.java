package io.vgpu.agent.refund;

import io.vgpu.agent.shim.OpenContainer;
import io.vgpu.agent.shim.UsageCopy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/** One card's refunds, turns and figures over all its containers. Lane {@code regions}. */
final class CardRefunds {
  private final RefundLedger ledger;
  private final TurnPlanner turns = new TurnPlanner();
  private final List<Tenant> tenants = new ArrayList<>();
  private Map<OpenContainer, Integer> attended = Map.of();
  private long lastNs;
  private long lastOfAllNs;

  CardRefunds(GpuModel model) {
    this.ledger = new RefundLedger(model);
  }

  RefundLedger ledger() {
    return ledger;
  }

  /** Two processes are active, so that one may be charged for the other's turn. */
  boolean isShared() {
    return ledger.active() >= 2;
  }

  /** When the last look was; 0 before the first. */
  long lastNs() {
    return lastNs;
  }

  /** When the last look was for which every container was read anew. */
  long lastOfAllNs() {
    return lastOfAllNs;
  }

  void lookedAtAll(long nowNs) {
    lastOfAllNs = nowNs;
  }

  /** Whom the list of its containers was brought up to date with. */
  Map<OpenContainer, Integer> attended() {
    return attended;
  }

  /** Brings the list of its containers up to date; {@code names} gives each a name of its own. */
  void attend(Map<OpenContainer, Integer> here, Names names) {
    attended = here;
    tenants.removeIf(t -> here.getOrDefault(t.container(), -1) != t.device());
    here.forEach(
        (container, device) -> {
          if (tenants.stream().noneMatch(t -> t.is(container, device))) {
            tenants.add(new Tenant(container, device, names.next()));
          }
        });
  }

  /** Gives names that nobody had. */
  interface Names {
    long next();
  }

  /** Is told when sleepers on a container's word should wake. */
  interface Waker {
    void wake(OpenContainer container, int device);
  }

  /** One look. {@code copies} has those containers whose usage could be opened. */
  void look(
      Map<OpenContainer, UsageCopy> copies, OptionalInt cardPermille, long nowNs, Waker waker) {
    lastNs = nowNs;
    List<Tenant> present = tenants.stream().filter(t -> copies.containsKey(t.container())).toList();
    ledger.look(present.stream().map(t -> t.look(copy(copies, t))).toList(), nowNs);
    List<Tenant> known = new ArrayList<>();
    List<RefundLedger.Account> accounts = new ArrayList<>();
    List<TurnLook> turnLooks = new ArrayList<>();
    for (Tenant t : present) {
      ledger
          .account(t.name())
          .ifPresent(
              account -> {
                known.add(t);
                accounts.add(account);
                turnLooks.add(t.turnLook(copy(copies, t), account.longestSliceNs()));
              });
    }
    List<Turn> given = turns.plan(turnLooks, nowNs);
    for (int i = 0; i < known.size(); i++) {
      Tenant t = known.get(i);
      if (t.write(accounts.get(i), given.get(i), copy(copies, t), cardPermille.orElse(0), nowNs)) {
        waker.wake(t.container(), t.device());
      }
    }
  }

  private static UsageCopy copy(Map<OpenContainer, UsageCopy> copies, Tenant tenant) {
    UsageCopy copy = copies.get(tenant.container());
    if (copy == null) {
      throw new IllegalStateException("no copy of " + tenant.container().owner());
    }
    return copy;
  }
}
