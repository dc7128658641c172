package io.vgpu.agent.mps;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One card's daemon, on the fake program; time is moved by hand. */
class MpsDaemonTest {
  private static final String CARD = FakeMps.CARD.value();
  @TempDir Path dir;
  private FakeMps fake;
  private final AtomicLong now = new AtomicLong(1_000_000_000L);
  private final List<MpsDaemon.Start> starts = new ArrayList<>();

  @BeforeEach
  void begin() throws IOException {
    fake = new FakeMps(dir);
  }

  @AfterEach
  void end() throws Exception {
    fake.close();
  }

  private MpsDaemon daemon() {
    return daemon(Duration.ofSeconds(10));
  }

  private MpsDaemon daemon(Duration limit) {
    return new MpsDaemon(
        CARD,
        fake.folders,
        FakeMps::noMount,
        new MpsProgram(FakeMps::words, fake.folders, FakeMps.CARD, limit),
        starts::add,
        now::get);
  }

  private void pass(Duration time) {
    now.addAndGet(time.toNanos());
  }

  @Test
  void startsOneForTheCardAlone() throws Exception {
    MpsDaemon daemon = daemon();
    assertThat(daemon.look()).isTrue();
    assertThat(daemon.look()).isTrue();
    assertThat(fake.started()).containsExactly(CARD);
    assertThat(starts).containsExactly(MpsDaemon.Start.OK);
    assertThat(Files.getPosixFilePermissions(fake.folders.sharedMemory())).hasSize(9);
  }

  @Test
  void findsTheOneThatAnEarlierAgentHasLeft() throws Exception {
    assertThat(daemon().look()).isTrue();
    assertThat(daemon().look()).isTrue();
    assertThat(fake.started()).hasSize(1);
  }

  @Test
  void startsItAgainWhenItDies() throws Exception {
    MpsDaemon daemon = daemon();
    daemon.look();
    long first = fake.pid();
    fake.kill();
    assertThat(daemon.look()).as("not at once").isFalse();
    pass(MpsDaemon.FIRST_PAUSE);
    assertThat(daemon.look()).isTrue();
    assertThat(fake.pid()).isNotEqualTo(first);
  }

  @Test
  void startsItNoMoreThanSoOftenWithinTheWindow() throws Exception {
    fake.does("refuse");
    MpsDaemon daemon = daemon();
    for (int i = 0; i < 100; i++) {
      assertThat(daemon.look()).isFalse();
      pass(Duration.ofSeconds(1));
    }
    assertThat(starts).hasSize(MpsDaemon.STARTS).containsOnly(MpsDaemon.Start.FAILED);
    fake.doesNot("refuse");
    assertThat(daemon.look()).isFalse();
    pass(MpsDaemon.WINDOW);
    assertThat(daemon.look()).as("when the window has passed").isTrue();
  }

  @Test
  void aProgramThatHangsIsGivenUp() throws Exception {
    fake.does("hang");
    assertThat(daemon(Duration.ofMillis(200)).look()).isFalse();
    assertThat(starts).containsExactly(MpsDaemon.Start.FAILED);
  }

  @Test
  void oneThatDoesNotAnswerServesNobodyAndIsNotDoubled() throws Exception {
    MpsDaemon daemon = daemon();
    daemon.look();
    fake.does("mute");
    assertThat(daemon.look()).as("not asked each time").isTrue();
    pass(Duration.ofSeconds(15));
    assertThat(daemon.look()).isFalse();
    assertThat(daemon.look()).isFalse();
    assertThat(fake.started()).hasSize(1);
    fake.doesNot("mute");
    assertThat(daemon.look()).isTrue();
  }

  @Test
  void aNumberOfAnotherProcessIsNoDaemon() throws Exception {
    Files.createDirectories(fake.folders.pipe());
    Files.writeString(fake.folders.pid(), ProcessHandle.current().pid() + "\n");
    daemon().stop();
    assertThat(daemon().look()).isTrue();
    assertThat(fake.pid()).isNotEqualTo(ProcessHandle.current().pid());
  }

  @Test
  void garbageInTheFileIsNone() throws Exception {
    Files.createDirectories(fake.folders.pipe());
    for (String text : List.of("", "x", "-1", "99999999999999999999", "1/../1")) {
      Files.writeString(fake.folders.pid(), text);
      daemon().stop();
    }
    assertThat(daemon().look()).isTrue();
  }

  @Test
  void endsIt() throws Exception {
    MpsDaemon daemon = daemon();
    daemon.look();
    assertThat(fake.lives()).isTrue();
    daemon.stop();
    assertThat(fake.lives()).isFalse();
    assertThat(fake.folders.pid()).doesNotExist();
    assertThat(fake.folders.pipe().resolve("control")).as("what it leaves behind").doesNotExist();
    daemon.stop();
    assertThat(daemon.look()).as("a look that was due before").isFalse();
    assertThat(fake.lives()).isFalse();
  }

  @Test
  void leavesItToItsClients() throws Exception {
    MpsDaemon daemon = daemon();
    daemon.look();
    Files.writeString(fake.folders.pipe().resolve("servers"), "4711\n");
    Files.writeString(fake.folders.pipe().resolve("clients"), "4712\n4713\n");
    daemon.stop();
    assertThat(fake.lives()).isTrue();
    Files.writeString(fake.folders.pipe().resolve("clients"), "");
    daemon.stop();
    assertThat(fake.lives()).as("a server without clients is nobody").isFalse();
  }

  @Test
  void whatCannotBeMountedServesNobody() {
    MpsDaemon daemon =
        new MpsDaemon(
            CARD,
            fake.folders,
            (folder, bytes) -> {
              throw new IOException(folder + ": mounting failed");
            },
            new MpsProgram(FakeMps::words, fake.folders, FakeMps.CARD, Duration.ofSeconds(10)),
            starts::add,
            now::get);
    assertThat(daemon.look()).isFalse();
    assertThat(starts).containsExactly(MpsDaemon.Start.FAILED);
  }
}
