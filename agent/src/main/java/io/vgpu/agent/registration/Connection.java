package io.vgpu.agent.registration;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.vgpu.agent.cgroup.CgroupOwner;
import io.vgpu.agent.cgroup.HostProcess;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One process at the door: who the kernel says it is, then the one frame, then one answer and the
 * end. It has {@link #DEADLINE_MS} for all of it, whatever it sends and however slowly. A process
 * that has left meanwhile, because its library waits for 100 ms only, is registered all the same.
 * On the socket's I/O thread.
 */
final class Connection extends SimpleChannelInboundHandler<ByteBuf> {
  static final long DEADLINE_MS = 2000;

  /** What the connection asks of others, any thread. */
  interface Desk {
    /** Looks at a process of the host; fails when too much is being looked at. */
    io.vertx.core.Future<Optional<HostProcess>> look(int hostPid);

    io.vertx.core.Future<Verdict> decide(HostProcess process, RegisterFrame frame);

    /** The pid of the host that the kernel gave to a connection; 0 if it gave none. */
    int peer(Channel channel);
  }

  private final Desk desk;
  private final Crowding crowding;
  private final Consumer<Verdict> told;
  private final byte[] frame = new byte[RegisterFrame.BYTES];
  private int length;
  private @Nullable HostProcess process;
  private @Nullable String pod;
  private @Nullable Future<?> deadline;
  private boolean entered;
  private boolean deciding;
  private boolean over;

  Connection(Desk desk, Crowding crowding, Consumer<Verdict> told) {
    this.desk = desk;
    this.crowding = crowding;
    this.told = told;
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    if (!crowding.enter()) {
      end(ctx, Verdict.FULL);
      return;
    }
    entered = true;
    int pid = desk.peer(ctx.channel());
    if (pid <= 0) { // of another pid namespace than ours
      end(ctx, Verdict.NOBODY);
      return;
    }
    deadline =
        ctx.executor().schedule(() -> end(ctx, Verdict.SILENT), DEADLINE_MS, TimeUnit.MILLISECONDS);
    desk.look(pid)
        .onComplete(
            looked ->
                ctx.executor()
                    .execute(
                        () -> {
                          if (looked.failed()) {
                            end(ctx, Verdict.FAILED);
                          } else {
                            known(ctx, looked.result());
                          }
                        }));
  }

  private void known(ChannelHandlerContext ctx, Optional<HostProcess> looked) {
    if (over) {
      return;
    }
    if (looked.isEmpty()) {
      end(ctx, Verdict.NOBODY);
      return;
    }
    HostProcess found = looked.get();
    String key = found.owner().map(CgroupOwner::podUid).orElse("pid:" + found.pid());
    if (!crowding.enter(key)) {
      end(ctx, Verdict.FULL);
      return;
    }
    pod = key;
    process = found;
    proceed(ctx);
  }

  @Override
  protected void channelRead0(ChannelHandlerContext ctx, ByteBuf in) {
    if (over) {
      return;
    }
    int more = in.readableBytes();
    if (more > frame.length - length) {
      end(ctx, Verdict.GARBLED); // a process says one thing, once
      return;
    }
    in.readBytes(frame, length, more);
    length += more;
    proceed(ctx);
  }

  private void proceed(ChannelHandlerContext ctx) {
    HostProcess who = process;
    if (who == null || length < frame.length || deciding) {
      return;
    }
    Optional<RegisterFrame> said = RegisterFrame.read(Arrays.copyOf(frame, frame.length));
    if (said.isEmpty()) {
      end(ctx, Verdict.GARBLED);
      return;
    }
    deciding = true;
    desk.decide(who, said.get())
        .onComplete(
            done ->
                ctx.executor()
                    .execute(() -> end(ctx, done.succeeded() ? done.result() : Verdict.FAILED)));
  }

  /** What is known is decided, though nobody waits for the answer. */
  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    if (length < frame.length) {
      end(ctx, Verdict.SILENT);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    if (length < frame.length) {
      end(ctx, Verdict.SILENT); // it broke the connection
    }
  }

  private void end(ChannelHandlerContext ctx, Verdict verdict) {
    if (over) {
      return;
    }
    over = true;
    Future<?> timer = deadline;
    if (timer != null) {
      timer.cancel(false);
    }
    if (entered) {
      crowding.leave();
    }
    String counted = pod;
    if (counted != null) {
      crowding.leave(counted);
    }
    told.accept(verdict);
    boolean answered = length == frame.length; // who has said nothing is told nothing
    ctx.writeAndFlush(
            answered
                ? Unpooled.wrappedBuffer(RegisterFrame.reply(verdict == Verdict.REGISTERED))
                : Unpooled.EMPTY_BUFFER)
        .addListener(ChannelFutureListener.CLOSE);
  }
}
