package io.vgpu.event.wire;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vgpu.event.EventType;
import io.vgpu.event.EventTypes;
import io.vgpu.event.VgpuEvent;
import java.util.function.Consumer;

/**
 * Typed access to the bus: the only class that calls {@code vertx.eventBus()}. Publishing never
 * fails and never waits; a handler runs on the context that subscribed, and what it throws goes to
 * that context's exception handler.
 */
public final class EventBusPort {
  private final Vertx vertx;

  /** One port per Vert.x: registers the local codec. */
  public EventBusPort(Vertx vertx) {
    this.vertx = vertx;
    LocalEventCodec.register(vertx);
  }

  /** Tells every subscriber of the fact's type. Any thread. */
  public void publish(VgpuEvent event) {
    vertx.eventBus().publish(EventTypes.of(event).address(), event);
  }

  /** Subscribes; the subscription ends when the returned handle is run. */
  public <T extends VgpuEvent> Subscription on(EventType<T> type, Consumer<T> handler) {
    var consumer =
        vertx
            .eventBus()
            .<T>localConsumer(type.address(), message -> handler.accept(message.body()));
    return consumer::unregister;
  }

  /** A running subscription. */
  @FunctionalInterface
  public interface Subscription {
    /** Ends it; the future completes when no more facts arrive. */
    Future<Void> end();
  }
}
