package io.vgpu.agent.mps;

import io.vgpu.agent.mps.MpsProgram.Answer;
import io.vgpu.agent.shim.ShimFolders;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.OptionalLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One card's daemon: found if it runs already, started if not, a bounded number of times. It
 * outlives the agent where it can, since its end is the end of all its clients. Blocks; one thread,
 * the card's lane.
 */
final class MpsDaemon {
  private static final Logger log = LoggerFactory.getLogger(MpsDaemon.class);

  /** At most so many starts within the window; until it has passed, shares are kept by time. */
  static final int STARTS = 5;

  static final Duration WINDOW = Duration.ofMinutes(10);
  static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
  private static final Duration ASK_EVERY = Duration.ofSeconds(15);
  private static final Duration SETTLE = Duration.ofSeconds(3);
  private static final Duration LOOK_AGAIN = Duration.ofMillis(50);

  /** Process names are cut at 15 characters. */
  private static final String NAME = "nvidia-cuda-mps";

  /** What became of a start. */
  enum Start {
    OK,
    FAILED
  }

  private final String card;
  private final MpsFolders folders;
  private final ShimFolders.TmpfsMount mount;
  private final MpsProgram program;
  private final Consumer<Start> started;
  private final LongSupplier nanoTime;
  private final Deque<Long> starts = new ArrayDeque<>();
  private long nextStart;
  private long nextAsk;
  private boolean up;
  private boolean gaveUp;
  private boolean stopped; // a look that was due before must not start it again

  MpsDaemon(
      String card,
      MpsFolders folders,
      ShimFolders.TmpfsMount mount,
      MpsProgram program,
      Consumer<Start> started,
      LongSupplier nanoTime) {
    this.card = card;
    this.folders = folders;
    this.mount = mount;
    this.program = program;
    this.started = started;
    this.nanoTime = nanoTime;
    this.nextStart = nanoTime.getAsLong();
    this.nextAsk = nextStart;
  }

  /** Looks after it; returns whether it serves now. */
  boolean look() {
    if (stopped) {
      return up;
    }
    boolean before = up;
    up = runs() ? answersStill() : start();
    if (before && !up) {
      log.warn("MPS daemon is gone or silent, shares are kept by time [gpu: {}]", card);
    } else if (!before && up) {
      log.info("MPS daemon serves [gpu: {}, pipe: {}]", card, folders.pipe());
    }
    return up;
  }

  /** Ends it, unless somebody is its client; it is not looked after any more. */
  void stop() {
    stopped = true;
    if (!runs()) {
      return;
    }
    if (hasClients()) {
      log.info("MPS daemon has clients and is left running [gpu: {}]", card);
      return;
    }
    up = false;
    if (program.tell("quit") instanceof Answer.Failed(String why)) {
      log.warn("MPS daemon does not take quit [gpu: {}, cause: {}]", card, why);
    } else if (!within(SETTLE, () -> !runs())) {
      log.warn("MPS daemon still runs after quit [gpu: {}]", card);
    } else {
      leaveNothing();
    }
  }

  /** It leaves its sockets behind, at which a client would wait in vain. */
  private void leaveNothing() {
    try {
      folders.clear();
    } catch (IOException e) {
      log.warn(
          "what the MPS daemon left [gpu: {}, cause: {}]", card, String.valueOf(e.getMessage()));
    }
  }

  /** A process that was asked every now and then is believed in between. */
  private boolean answersStill() {
    long now = nanoTime.getAsLong();
    if (up && now - nextAsk < 0) {
      return true;
    }
    nextAsk = now + ASK_EVERY.toNanos();
    return answers();
  }

  private boolean answers() {
    return program.tell("get_default_active_thread_percentage") instanceof Answer.Said;
  }

  /** Also true where it cannot be told: nobody is ended by mistake. */
  private boolean hasClients() {
    if (!(program.tell("get_server_list") instanceof Answer.Said(String servers))) {
      return true;
    }
    return servers
        .lines()
        .map(String::strip)
        .filter(s -> s.matches("[0-9]{1,10}"))
        .limit(64)
        .anyMatch(
            server ->
                !(program.tell("get_client_list " + server) instanceof Answer.Said(String clients))
                    || clients.lines().anyMatch(c -> c.strip().matches("[0-9]{1,10}")));
  }

  private boolean start() {
    long now = nanoTime.getAsLong();
    while (!starts.isEmpty() && now - starts.getFirst() >= WINDOW.toNanos()) {
      starts.removeFirst();
    }
    if (starts.size() >= STARTS) {
      if (!gaveUp) {
        log.error("MPS daemon started {} times within {} [gpu: {}]", STARTS, WINDOW, card);
      }
      gaveUp = true;
      return false;
    }
    if (now - nextStart < 0) {
      return false;
    }
    gaveUp = false;
    starts.addLast(now);
    nextStart = now + FIRST_PAUSE.toNanos() * (1L << (starts.size() - 1));
    nextAsk = now + ASK_EVERY.toNanos();
    Answer answer = begin();
    boolean ok = answer instanceof Answer.Said && within(SETTLE, () -> runs() && answers());
    started.accept(ok ? Start.OK : Start.FAILED);
    if (!ok) {
      String why = answer instanceof Answer.Failed(String text) ? text : "it does not answer";
      log.warn("MPS daemon does not start [gpu: {}, cause: {}]", card, why);
    }
    return ok;
  }

  private Answer begin() {
    try {
      folders.make(mount);
      folders.clear();
    } catch (IOException e) {
      return new Answer.Failed(String.valueOf(e.getMessage()));
    }
    return program.daemon();
  }

  private boolean within(Duration limit, BooleanSupplier condition) {
    long end = nanoTime.getAsLong() + limit.toNanos();
    int most = (int) (limit.toNanos() / LOOK_AGAIN.toNanos());
    for (int i = 0; i < most && nanoTime.getAsLong() - end < 0; i++) {
      if (condition.getAsBoolean()) {
        return true;
      }
      LockSupport.parkNanos(LOOK_AGAIN.toNanos());
    }
    return condition.getAsBoolean();
  }

  /**
   * The process that the pid file names, if it is one: the file may be of a daemon of another pid
   * namespace, and a dead one stays in the table until somebody asks for its status.
   */
  private boolean runs() {
    OptionalLong pid = pid();
    if (pid.isEmpty()) {
      return false;
    }
    try {
      String stat = Files.readString(Path.of("/proc", Long.toString(pid.getAsLong()), "stat"));
      int from = stat.indexOf('(');
      int to = stat.lastIndexOf(')');
      return from > 0
          && to > from
          && stat.length() > to + 2
          && stat.substring(from + 1, to).equals(NAME)
          && "ZX".indexOf(stat.charAt(to + 2)) < 0;
    } catch (IOException e) {
      return false; // there is no such process
    }
  }

  private OptionalLong pid() {
    try {
      String text = Files.readString(folders.pid()).strip();
      return text.matches("[0-9]{1,10}")
          ? OptionalLong.of(Long.parseLong(text))
          : OptionalLong.empty();
    } catch (IOException e) {
      return OptionalLong.empty(); // none was started, or it has ended in order
    }
  }
}
