package io.vgpu.agent.registration;

import static io.vgpu.agent.testing.ContainersOnDisk.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.cgroup.HostProcesses;
import io.vgpu.agent.shim.Abi;
import io.vgpu.agent.shim.DeviceLimits;
import io.vgpu.agent.shim.ShimWriter.Owner;
import io.vgpu.agent.testing.ContainersOnDisk;
import io.vgpu.agent.testing.ContainersOnDisk.OnDisk;
import io.vgpu.agent.testing.FakeGpuDriver;
import io.vgpu.model.ContainerRef;
import io.vgpu.model.PodRef;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The agent's side of registration over its real socket, with true credentials: this process is the
 * tenant, and {@code /proc} says of it what the test wants.
 */
class RegistryTest {
  private static final long SELF = ProcessHandle.current().pid();
  private static final String POD = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";
  private static final String MAIN_ID = "3f".repeat(32);
  private static final String SIDE_ID = "ab".repeat(32);
  private static final int INNER = 7;
  private static final long START = 4711;

  @TempDir Path root;
  private ContainersOnDisk disk;
  private FakeProc proc;
  private OnDisk main;
  private Path socket;
  private RegisteredProcesses registered;
  private String deployed;
  private volatile Map<String, String> known = Map.of();

  @BeforeEach
  void start() throws Exception {
    disk = new ContainersOnDisk(root);
    proc = new FakeProc(root.resolve("proc"));
    proc.process(SELF, INNER, START, "0::/kubepods/burstable/pod" + POD + "/" + MAIN_ID + "\n");
    main = attach("main");
    slot(main, 3, INNER, START);
    HostProcesses processes = new HostProcesses(proc.root());
    registered = new RegisteredProcesses(processes::startTime);
    Path directory = root.resolve("registry");
    socket = directory.resolve(Abi.REGISTER_SOCKET);
    RegistryVerticle.prepare(directory);
    deployed =
        await(
            disk.vertx()
                .deployVerticle(
                    new RegistryVerticle(
                        directory,
                        disk.lane("registry"),
                        disk.shim(),
                        processes,
                        (pod, id) -> Optional.ofNullable(known.get(id)),
                        registered,
                        SELF,
                        Duration.ofMillis(20),
                        System::nanoTime,
                        disk.meters())));
  }

  @AfterEach
  void stop() throws Exception {
    await(disk.vertx().undeploy(deployed)); // while its lane works
    assertThat(socket).doesNotExist();
    disk.close();
  }

  private OnDisk attach(String container) throws Exception {
    return disk.attach(
        new ContainerRef(new PodRef("team", "train", POD), container),
        new DeviceLimits(
            FakeGpuDriver.uuid(0),
            0,
            108,
            Set.of(DeviceLimits.Flag.MEMORY_LIMIT),
            1 << 30,
            1 << 30,
            1000,
            1000));
  }

  private static void slot(OnDisk container, int slot, int pid, long startTime) throws Exception {
    long at = Abi.SLOTS_OFFSET + (long) slot * Abi.SLOT_BYTES;
    container.usage(at + Abi.UsageSlot.PID, pid, 4);
    container.usage(at + Abi.UsageSlot.START_TIME, startTime, 8);
    container.usage(at + Abi.UsageSlot.STATE, Abi.SLOT_LIVE, 4);
  }

  private static byte[] frame(int slot, int pid, long startTime) {
    return ByteBuffer.allocate(RegisterFrame.BYTES)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(Abi.REGISTER_MAGIC)
        .putShort((short) Abi.ABI_MAJOR)
        .putShort((short) Abi.ABI_MINOR)
        .putInt(slot)
        .putInt(pid)
        .putLong(startTime)
        .array();
  }

  private SocketChannel connect() throws IOException {
    return SocketChannel.open(UnixDomainSocketAddress.of(socket));
  }

  /** What is answered until the end: 0 registered, 1 refused, -1 nothing. */
  private static int answer(SocketChannel channel) throws IOException {
    ByteBuffer in = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
    try {
      while (channel.read(in) >= 0) {}
    } catch (IOException e) {
      return -1; // reset: it closed with something unread
    }
    if (in.position() == 0) {
      return -1;
    }
    assertThat(in.position()).isEqualTo(Abi.RegisterReply.SIZEOF);
    assertThat(in.getInt(Abi.RegisterReply.MAGIC)).isEqualTo(Abi.REGISTER_MAGIC);
    return in.getInt(Abi.RegisterReply.STATUS);
  }

  private int register(byte[] bytes) throws IOException {
    try (SocketChannel channel = connect()) {
      channel.write(ByteBuffer.wrap(bytes));
      return answer(channel);
    }
  }

  private static void until(String what, BooleanSupplier holds) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (!holds.getAsBoolean()) {
      assertThat(System.nanoTime()).as("waiting for %s", what).isLessThan(end);
      Thread.onSpinWait();
    }
  }

  private void awaitCounted(String result, int times) {
    until(
        result,
        () ->
            disk.meters()
                .scrape()
                .contains(
                    "vgpu_process_registrations_total{result=\"" + result + "\"} " + times + ".0"));
  }

  @Test
  void aProcessIsWhoTheKernelSays() throws Exception {
    assertThat(register(frame(3, INNER, START))).isEqualTo(Abi.REGISTER_OK);
    assertThat(registered.of((int) SELF))
        .contains(new RegisteredProcess((int) SELF, START, new Owner(POD, "main"), 3));
    assertThat(registered.size()).isEqualTo(1);
    awaitCounted("registered", 1);
  }

  @Test
  void whoHasLeftMeanwhileIsRegisteredAllTheSame() throws Exception {
    try (SocketChannel channel = connect()) {
      channel.write(ByteBuffer.wrap(frame(3, INNER, START)));
    }
    until("the registration", () -> registered.size() == 1);
  }

  /** 13-34: not to know who somebody is means no. */
  @Test
  void whoIsOfNoPodOfOursIsRefused() throws Exception {
    String id = "/" + MAIN_ID + "\n";
    for (String cgroup :
        List.of(
            "0::/user.slice/user-0.slice/session-1.scope\n",
            "0::/kubepods/burstable/podffffffff-4e5f-6071-8293-a4b5c6d7e8f9" + id,
            "0::/kubepods/burstable/pod" + "0123456789abcdef".repeat(2) + id, // a static pod
            "0::/kubepods/burstable/podkube-proxy" + id,
            "")) {
      proc.process(SELF, INNER, START, cgroup);
      assertThat(register(frame(3, INNER, START))).as(cgroup).isEqualTo(Abi.REGISTER_REFUSED);
    }
    awaitCounted("unknown-pod", 5);
    assertThat(registered.size()).isZero();
  }

  /** 13-34. */
  @Test
  void whomTheKernelDoesNotKnowAnyMoreIsTurnedAway() throws Exception {
    proc.ends(SELF);
    assertThat(register(frame(3, INNER, START))).isNotEqualTo(Abi.REGISTER_OK);
    awaitCounted("nobody", 1);
  }

  @Test
  void whatATenantWritesIsComparedWithWhatTheKernelSays() throws Exception {
    slot(main, 4, INNER + 1, START);
    for (byte[] lie :
        List.of(
            frame(3, INNER + 1, START),
            frame(4, INNER + 1, START), // another's slot, with its pid
            frame(3, INNER, START + 1),
            frame(4, INNER, START),
            frame(2, INNER, START))) {
      assertThat(register(lie)).isEqualTo(Abi.REGISTER_REFUSED);
    }
    main.usage(Abi.SLOTS_OFFSET + 3L * Abi.SLOT_BYTES, Abi.SLOT_REAPING, 4);
    assertThat(register(frame(3, INNER, START))).as("a slot that is not live").isEqualTo(1);
    awaitCounted("impostor", 6);
    assertThat(registered.size()).isZero();
  }

  @Test
  void theRuntimesWordOnTheContainerCounts() throws Exception {
    OnDisk side = attach("side");
    slot(side, 3, INNER, START); // so that the slots alone do not tell
    assertThat(register(frame(3, INNER, START))).as("either").isEqualTo(Abi.REGISTER_REFUSED);
    known = Map.of(MAIN_ID, "main", SIDE_ID, "side");
    assertThat(register(frame(3, INNER, START))).isEqualTo(Abi.REGISTER_OK);
    assertThat(registered.of((int) SELF).orElseThrow().owner().container()).isEqualTo("main");
    known = Map.of(MAIN_ID, "helper");
    assertThat(register(frame(3, INNER, START)))
        .as("of a container that was given nothing")
        .isEqualTo(Abi.REGISTER_REFUSED);
  }

  /** The status comes later than the process: then its slot tells the pod's containers apart. */
  @Test
  void theSlotTellsWhereTheStatusIsLate() throws Exception {
    OnDisk side = attach("side");
    slot(side, 3, INNER, START + 1);
    assertThat(register(frame(3, INNER, START))).isEqualTo(Abi.REGISTER_OK);
    assertThat(registered.of((int) SELF).orElseThrow().owner().container()).isEqualTo("main");
  }

  /** 13-37: the list is of processes that live, not of a moment. */
  @Test
  void whoEndsIsDropped() throws Exception {
    register(frame(3, INNER, START));
    proc.ends(SELF);
    assertThat(registered.of((int) SELF)).as("at once").isEmpty();
    until("it to be forgotten", () -> registered.size() == 0);
  }

  @Test
  void aPidThatIsAnotherProcessNowIsNotTheContainers() throws Exception {
    register(frame(3, INNER, START));
    proc.process(SELF, 1, START + 5, "0::/kubepods/burstable/pod" + POD + "/" + SIDE_ID + "\n");
    assertThat(registered.of((int) SELF)).isEmpty();
  }

  @Test
  void whatIsNoFrameIsRefused() throws Exception {
    byte[] magic = frame(3, INNER, START);
    magic[0]++;
    byte[] major = frame(3, INNER, START);
    major[4]++;
    byte[] minor = frame(3, INNER, START);
    minor[6]++;
    assertThat(register(magic)).isEqualTo(Abi.REGISTER_REFUSED);
    assertThat(register(major)).isEqualTo(Abi.REGISTER_REFUSED);
    assertThat(register(frame(Abi.SLOTS, INNER, START))).isEqualTo(Abi.REGISTER_REFUSED);
    assertThat(register(frame(-1, INNER, START))).isEqualTo(Abi.REGISTER_REFUSED);
    assertThat(register(frame(3, 0, START))).isEqualTo(Abi.REGISTER_REFUSED);
    assertThat(register(new byte[4096])).as("more than a frame").isNotEqualTo(Abi.REGISTER_OK);
    assertThat(register(Arrays.copyOf(frame(3, INNER, START), RegisterFrame.BYTES + 1)))
        .as("a sound one and a byte")
        .isNotEqualTo(Abi.REGISTER_OK);
    awaitCounted("garbled", 7);
    assertThat(register(minor)).as("a later minor version").isEqualTo(Abi.REGISTER_OK);
  }

  /** 13-33, 13-36: who only holds connections holds eight, for two seconds. */
  @Test
  void theNinthOfAPodIsClosedAtOnceAndTheSilentAfterAWhile() throws Exception {
    List<SocketChannel> open = new ArrayList<>();
    try {
      for (int i = 0; i < Crowding.BY_POD; i++) {
        open.add(connect());
      }
      assertThat(register(frame(3, INNER, START))).as("the ninth").isNotEqualTo(Abi.REGISTER_OK);
      awaitCounted("full", 1);
      for (SocketChannel channel : open) {
        assertThat(answer(channel)).isEqualTo(-1);
      }
      awaitCounted("silent", Crowding.BY_POD);
    } finally {
      for (SocketChannel channel : open) {
        channel.close();
      }
    }
    assertThat(register(frame(3, INNER, START))).as("then there is room").isEqualTo(0);
  }

  @Test
  void aThousandRegistrationsLeaveNothingOpen() throws Exception {
    for (int i = 0; i < 1000; i++) {
      assertThat(register(frame(3, INNER, START))).isEqualTo(Abi.REGISTER_OK);
    }
    assertThat(registered.size()).isEqualTo(1);
  }

  @Test
  void aSocketThatIsGoneComesBack() throws Exception {
    Files.delete(socket);
    until("the socket", () -> Files.exists(socket));
    assertThat(register(frame(3, INNER, START))).isEqualTo(Abi.REGISTER_OK);
  }
}
