package io.vgpu.agent.gpu;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vgpu.agent.health.CardHealth;
import io.vgpu.agent.health.Evidence;
import io.vgpu.agent.health.HealthNotes;
import io.vgpu.agent.health.HealthRules;
import io.vgpu.agent.health.Standing;
import io.vgpu.agent.notes.Checkpoint;
import io.vgpu.event.VgpuEvent.GpuHealthChanged;
import io.vgpu.event.VgpuEvent.GpuInventoryChanged;
import io.vgpu.event.wire.EventBusPort;
import io.vgpu.model.GpuUuid;
import io.vgpu.runtime.Lane;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps how it stands with every card (node-agent.md 2.5, ADR 0017): waits for critical errors on
 * lane {@code nvml-events}, is told by the sampler what cards answer, and decides by {@link
 * CardHealth}. A card that is no longer offered, or is again, is published as {@link
 * GpuHealthChanged} and {@link GpuInventoryChanged}; who wants to know subscribes. What one card
 * does never speaks against another.
 */
public final class GpuHealthVerticle extends VerticleBase {
  private static final Logger log = LoggerFactory.getLogger(GpuHealthVerticle.class);
  private static final Duration WAIT = Duration.ofSeconds(5);
  private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);

  /** Is told of the driver's errors, those that are ignored too; on the verticle's event loop. */
  public interface Counter {
    void xid(int number);

    /** {@code card}: its index; -1 where the driver does not say. */
    void ecc(int card, boolean corrected);
  }

  /**
   * By what it decides.
   *
   * @param notes where faults are kept over a restart; empty: nowhere
   * @param boot hash of the kernel's boot id
   * @param nanoTime monotonic clock
   */
  public record Terms(
      XidRules xids,
      HealthRules rules,
      Optional<Checkpoint<HealthNotes>> notes,
      long boot,
      Clock clock,
      LongSupplier nanoTime) {}

  private final GpuDriver driver;
  private final NodeGpus gpus;
  private final Terms terms;
  private final Lane lane;
  private final EventBusPort bus;
  private final String node;
  private final Counter counter;
  private final Map<GpuUuid, CardHealth> health = new ConcurrentHashMap<>(); // written on the loop
  private HealthNotes written = HealthNotes.NONE;
  private boolean keeping;
  private boolean stopped;

  public GpuHealthVerticle(
      GpuDriver driver,
      NodeGpus gpus,
      Terms terms,
      Lane lane,
      EventBusPort bus,
      String node,
      Counter counter) {
    this.driver = driver;
    this.gpus = gpus;
    this.terms = terms;
    this.lane = lane;
    this.bus = bus;
    this.node = node;
    this.counter = counter;
  }

  /** Succeeds when what was known before the restart holds again. */
  @Override
  public Future<?> start() {
    if (!terms.xids().watching()) {
      log.info("health checks are disabled");
      return Future.succeededFuture();
    }
    return terms
        .notes()
        .map(Checkpoint::load)
        .orElse(Future.succeededFuture(HealthNotes.NONE))
        .map(
            notes -> {
              written = notes;
              remember(notes);
              next();
              return null;
            });
  }

  @Override
  public Future<?> stop() {
    stopped = true;
    return Future.succeededFuture();
  }

  /** What was seen of a card or MIG slice. Any thread, after the deployment. */
  public void see(GpuUuid device, Evidence evidence) {
    context.runOnContext(v -> seen(device, evidence));
  }

  /**
   * From now on faults are written down. Not before it is this agent's turn: beside one that still
   * serves, two would write one file (ADR 0022). Any thread, after the deployment.
   */
  public void keepNotes() {
    context.runOnContext(
        v -> {
          keeping = true;
          keep();
        });
  }

  /** How it stands with a card or slice. Any thread. */
  public Standing standing(GpuUuid device) {
    CardHealth known = health.get(device);
    return known == null ? Standing.HEALTHY : known.standing();
  }

  private void remember(HealthNotes notes) {
    long now = terms.nanoTime().getAsLong();
    notes
        .after(terms.boot())
        .forEach(
            (device, note) -> {
              health.put(
                  device, CardHealth.remembered(note.cause(), note.lasting(), note.falls(), now));
              if (gpus.markUnhealthy(device, note.cause())) {
                log.warn(
                    "card was unhealthy before the agent's restart [device: {}, cause: {}]",
                    device,
                    note.cause());
              }
            });
  }

  private void next() {
    lane.call(() -> driver.awaitHealthEvent(WAIT))
        .onComplete(
            waited -> {
              if (stopped) {
                return;
              }
              if (waited.succeeded()) {
                waited.result().ifPresent(this::act);
                next();
              } else {
                failed(waited.cause());
                vertx.setTimer(PAUSE_AFTER_FAILURE.toMillis(), t -> next());
              }
            });
  }

  private void act(HealthEvent event) {
    switch (event) {
      case HealthEvent.NotWatchable(GpuUuid gpu, String cause, boolean lost) ->
          seen(gpu, new Evidence.Fault("cannot be watched: " + cause, lost));
      case HealthEvent.Xid(Optional<GpuUuid> device, int xid) -> xid(device, xid);
      case HealthEvent.Ecc(Optional<GpuUuid> device, boolean corrected) -> {
        counter.ecc(device.flatMap(gpus::card).map(c -> c.gpu().index()).orElse(-1), corrected);
        if (!corrected) {
          Evidence fault = new Evidence.Fault("a memory error that could not be corrected", false);
          device.ifPresentOrElse(
              d -> seen(d, fault), () -> ofNoCard("an uncorrected memory error"));
        }
      }
    }
  }

  private void xid(Optional<GpuUuid> device, int xid) {
    counter.xid(xid);
    if (!terms.xids().counts(xid)) {
      log.info("critical error ignored [device: {}, xid: {}]", device, xid);
    } else if (device.isPresent()) {
      seen(device.get(), new Evidence.Fault("XID " + xid, terms.xids().lasting(xid)));
    } else {
      ofNoCard("XID " + xid);
    }
  }

  private void failed(Throwable cause) {
    if (cause instanceof GpuDriverException e && e.isGpuLost()) {
      ofNoCard("a card is lost");
    } else {
      log.warn("waiting for critical errors failed [cause: {}]", cause.toString());
    }
  }

  /** The driver does not say whose it is: all are looked at, those that answer go on. */
  private void ofNoCard(String what) {
    log.error("{}, of a card that the driver does not name", what);
    for (GpuInventory.Card card : gpus.cards()) {
      seen(card.gpu().uuid(), new Evidence.Trouble(what + ", of a card that is not named"));
    }
  }

  private void seen(GpuUuid device, Evidence evidence) {
    if (stopped || !terms.xids().watching()) {
      return;
    }
    change(device, evidence);
    if (evidence instanceof Evidence.Answered) {
      // a slice is asked nothing by itself: it answers when its card does
      gpus.card(device).stream()
          .flatMap(c -> c.gpu().migDevices().stream())
          .filter(m -> health.containsKey(m.uuid()))
          .forEach(m -> change(m.uuid(), evidence));
    }
  }

  private void change(GpuUuid device, Evidence evidence) {
    long now = terms.nanoTime().getAsLong();
    CardHealth before = health.getOrDefault(device, CardHealth.healthy(now));
    CardHealth after = before.after(evidence, now, terms.rules());
    if (after == before || !gpus.has(device)) {
      return;
    }
    health.put(device, after);
    if (after.standing() != before.standing()) {
      keep(); // before anybody acts on it
      tell(device, before, after);
    }
  }

  private void tell(GpuUuid device, CardHealth before, CardHealth after) {
    String cause = after.cause().isEmpty() ? before.cause() : after.cause();
    if (after.standing() == Standing.UNHEALTHY) {
      log.error("card is unhealthy [device: {}, cause: {}]", device, cause);
    } else {
      log.warn(
          "card is {}, was {} [device: {}, cause: {}]",
          after.standing(),
          before.standing(),
          device,
          cause);
    }
    boolean changed =
        after.standing().offered() ? gpus.markHealthy(device) : gpus.markUnhealthy(device, cause);
    if (changed) {
      bus.publish(
          new GpuHealthChanged(
              terms.clock().instant(), node, device, after.standing().offered(), cause));
      bus.publish(new GpuInventoryChanged(terms.clock().instant(), node, gpus.published()));
    }
  }

  /** What cannot be written is tried again with the next change; a restart would forget it. */
  private void keep() {
    Map<GpuUuid, HealthNotes.Note> bad = new HashMap<>();
    health.forEach(
        (device, h) -> {
          if (!h.standing().offered()) {
            bad.put(device, new HealthNotes.Note(h.cause(), h.lasting(), h.falls()));
          }
        });
    HealthNotes notes = new HealthNotes(terms.boot(), bad);
    if (keeping && terms.notes().isPresent() && !notes.equals(written)) {
      written = notes;
      terms
          .notes()
          .get()
          .save(notes)
          .onFailure(
              e -> {
                written = HealthNotes.NONE;
                log.warn("health notes not written [cause: {}]", e.toString());
              });
    }
  }
}
