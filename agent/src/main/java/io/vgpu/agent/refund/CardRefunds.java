package io.vgpu.agent.refund;

import io.vgpu.agent.shim.OpenContainer;
import io.vgpu.agent.shim.UsageCopy;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** One card's refunds, turns and figures over all its containers. Lane {@code regions}. */
final class CardRefunds {
  private final RefundLedger ledger;
  private final TurnPlanner turns = new TurnPlanner();
  private final List<Tenant> tenants = new ArrayList<>();
  private long lastNs;
  private long lastOfAllNs;
  private long nextNs;

  // of the look that is being made, kept for the next one's
  private final List<Tenant> present = new ArrayList<>();
  private final List<UsageCopy> presentCopies = new ArrayList<>();
  private final List<Look> looks = new ArrayList<>();
  private final List<RefundLedger.@Nullable Account> accounts = new ArrayList<>();
  private final List<TurnLook> turnLooks = new ArrayList<>();

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

  /** When the next look should be. */
  long nextNs() {
    return nextNs;
  }

  /** When the last look was for which every container was read anew. */
  long lastOfAllNs() {
    return lastOfAllNs;
  }

  void lookedAtAll(long nowNs) {
    lastOfAllNs = nowNs;
  }

  /** Brings the list of its containers up to date; {@code names} gives each a name of its own. */
  void attend(Map<OpenContainer, Integer> here, Names names) {
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

  /** Gives a container's usage as of this look; null: it cannot be opened. */
  interface Copies {
    @Nullable UsageCopy of(OpenContainer container);
  }

  /** One look. */
  void look(Copies copies, OptionalInt cardPermille, long nowNs, Waker waker) {
    lastNs = nowNs;
    present.clear();
    presentCopies.clear();
    looks.clear();
    for (Tenant t : tenants) {
      UsageCopy copy = copies.of(t.container());
      if (copy != null) {
        present.add(t);
        presentCopies.add(copy);
        looks.add(t.look(copy));
      }
    }
    ledger.look(looks, nowNs);
    turnLooks.clear();
    accounts.clear();
    for (int i = 0; i < present.size(); i++) {
      RefundLedger.Account account = ledger.account(present.get(i).name());
      accounts.add(account);
      if (account != null) {
        turnLooks.add(present.get(i).turnLook(presentCopies.get(i), account.longestSliceNs()));
      }
    }
    Iterator<Turn> given = turns.plan(turnLooks, nowNs).iterator();
    for (int i = 0; i < present.size(); i++) {
      RefundLedger.Account account = accounts.get(i);
      Tenant t = present.get(i);
      if (account != null // else one too many
          && t.write(account, given.next(), presentCopies.get(i), cardPermille.orElse(0), nowNs)) {
        waker.wake(t.container(), t.device());
      }
    }
    nextNs = nowNs + (isShared() ? NextLook.after(ledger, turns) : RefundRound.SLOW_NS);
  }
}
