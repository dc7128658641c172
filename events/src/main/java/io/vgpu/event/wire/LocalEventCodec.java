package io.vgpu.event.wire;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.MessageCodec;
import io.vgpu.event.VgpuEvent;

/**
 * One codec for the whole sealed family inside a process: records are immutable, so they are passed
 * as they are.
 */
public final class LocalEventCodec implements MessageCodec<VgpuEvent, VgpuEvent> {
  public static final String NAME = "vgpu-event";

  /** Registers the codec and its selection by type, once per Vert.x. */
  public static void register(Vertx vertx) {
    vertx.eventBus().registerCodec(new LocalEventCodec());
    vertx.eventBus().codecSelector(body -> body instanceof VgpuEvent ? NAME : null);
  }

  @Override
  public VgpuEvent transform(VgpuEvent event) {
    return event;
  }

  @Override
  public void encodeToWire(Buffer buffer, VgpuEvent event) {
    throw new IllegalStateException(
        "the event bus is not clustered: between processes facts go through a transport");
  }

  @Override
  public VgpuEvent decodeFromWire(int pos, Buffer buffer) {
    throw new IllegalStateException(
        "the event bus is not clustered: between processes facts go through a transport");
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public byte systemCodecID() {
    return -1;
  }
}
