package io.vgpu.agent.registration;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import io.vertx.core.Future;
import io.vgpu.agent.cgroup.CgroupOwner;
import io.vgpu.agent.cgroup.HostProcess;
import io.vgpu.agent.shim.Abi;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

/**
 * Whatever a container sends, in whatever pieces, and whenever it leaves: it is told one thing at
 * most, counted once, and nothing is left of it.
 */
class ConnectionFuzzTest {
  private static final String POD = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";

  private static final class Counted implements Connection.Desk {
    final List<RegisterFrame> decided = new ArrayList<>();
    final Optional<HostProcess> who;
    final boolean fails;

    Counted(boolean known, boolean fails) {
      this.fails = fails;
      this.who =
          known
              ? Optional.of(
                  new HostProcess(9, 1, 2, Optional.of(new CgroupOwner(POD, Optional.empty()))))
              : Optional.empty();
    }

    @Override
    public Future<Optional<HostProcess>> look(int hostPid) {
      return fails ? Future.failedFuture("full") : Future.succeededFuture(who);
    }

    @Override
    public Future<Verdict> decide(HostProcess process, RegisterFrame frame) {
      decided.add(frame);
      return fails ? Future.failedFuture("full") : Future.succeededFuture(Verdict.REGISTERED);
    }

    @Override
    public int peer(Channel channel) {
      return 9;
    }
  }

  @Property(tries = 3000)
  void anyBytesInAnyPiecesEndInOneVerdict(
      @ForAll("messages") byte[] bytes,
      @ForAll @IntRange(min = 1, max = 40) int piece,
      @ForAll boolean known,
      @ForAll boolean fails,
      @ForAll boolean leaves) {
    Crowding crowding = new Crowding();
    List<Verdict> told = new ArrayList<>();
    Counted desk = new Counted(known, fails);
    EmbeddedChannel channel = new EmbeddedChannel(new Connection(desk, crowding, told::add));
    for (int at = 0; at < bytes.length && channel.isOpen(); at += piece) {
      int to = Math.min(bytes.length, at + piece);
      channel.writeInbound(Unpooled.copiedBuffer(Arrays.copyOfRange(bytes, at, to)));
    }
    if (leaves) {
      assertThat(channel.close().isDone()).isTrue();
    }
    channel.runPendingTasks();
    channel.advanceTimeBy(Connection.DEADLINE_MS, TimeUnit.MILLISECONDS);
    channel.runScheduledPendingTasks();
    channel.runPendingTasks();
    assertThat(told).hasSize(1);
    assertThat(channel.isOpen()).isFalse();
    assertThat(crowding.pods()).isZero();
    for (int i = 0; i < Crowding.IN_ALL; i++) {
      assertThat(crowding.enter()).as("every place is free again").isTrue();
    }
    assertThat(desk.decided.size()).isLessThanOrEqualTo(1);
    if (told.contains(Verdict.REGISTERED)) {
      assertThat(desk.decided).hasSize(1);
      assertThat(RegisterFrame.read(Arrays.copyOf(bytes, RegisterFrame.BYTES)))
          .contains(desk.decided.getFirst());
    }
    int answered = 0;
    for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
      answered += out.readableBytes();
      out.release();
    }
    assertThat(answered).isIn(0, Abi.RegisterReply.SIZEOF);
  }

  @Property
  void aSoundFrameIsReadBack(
      @ForAll @IntRange(max = Abi.SLOTS - 1) int slot,
      @ForAll @IntRange(min = 1) int pid,
      @ForAll long start,
      @ForAll short minor) {
    assertThat(RegisterFrame.read(sound(slot, pid, start, minor)))
        .contains(new RegisterFrame(slot, pid, start));
  }

  private static byte[] sound(int slot, int pid, long start, short minor) {
    return ByteBuffer.allocate(RegisterFrame.BYTES)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(Abi.REGISTER_MAGIC)
        .putShort((short) Abi.ABI_MAJOR)
        .putShort(minor)
        .putInt(slot)
        .putInt(pid)
        .putLong(start)
        .array();
  }

  @Provide
  Arbitrary<byte[]> messages() {
    Arbitrary<byte[]> damaged =
        Combinators.combine(
                Arbitraries.integers().between(0, RegisterFrame.BYTES - 1),
                Arbitraries.bytes(),
                Arbitraries.integers().between(0, 2 * RegisterFrame.BYTES))
            .as(
                (at, value, length) -> {
                  byte[] frame = sound(3, 7, 4711, (short) 0);
                  frame[at] = value;
                  return Arrays.copyOf(frame, length);
                });
    return Arbitraries.oneOf(
        Arbitraries.bytes().array(byte[].class).ofMaxSize(64),
        damaged,
        Arbitraries.just(sound(3, 7, 4711, (short) 0)));
  }
}
