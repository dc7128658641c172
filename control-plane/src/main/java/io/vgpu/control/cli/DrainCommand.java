package io.vgpu.control.cli;

import io.vgpu.control.cli.kube.CardReader;
import io.vgpu.control.cli.kube.Holder;
import io.vgpu.model.DeviceCordon.Mode;
import io.vgpu.model.GpuUuid;
import io.vgpu.runtime.Logging;
import java.io.PrintWriter;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code vgpu drain}: says that cards are to be left, and tells how the controller gets on with it
 * (D17). It evicts nobody itself: a drain goes on without it.
 */
@Command(
    name = "drain",
    description = {
      "cordons GPUs of a node and has the controller evict the pods that hold them; disruption",
      "budgets are honoured. Pods of DaemonSets, static and critical pods stay.",
      "Exit status 1: pods still held the GPUs when the time was up; the drain goes on."
    },
    mixinStandardHelpOptions = true,
    showDefaultValues = true)
final class DrainCommand implements Callable<Integer> {
  static final int NOT_YET = 1;
  private static final Duration LOOK_EVERY = Duration.ofSeconds(1);

  /** Whose events are asked for in one turn. */
  private static final int ASKED_AFTER = 20;

  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private CardTarget target = new CardTarget();

  @Option(names = "--reason", paramLabel = "TEXT", description = "why, for those who ask later")
  private @Nullable String reason;

  @Option(
      names = "--timeout",
      paramLabel = "DURATION",
      defaultValue = "30m",
      description = "how long to wait for the last pod")
  private Duration timeout = Duration.ofMinutes(30);

  @Option(names = "--no-wait", description = "say so and return")
  private boolean noWait;

  @Override
  public Integer call() {
    Logging.configure(0);
    Clock clock = Clock.systemUTC();
    PrintWriter out = spec.commandLine().getOut();
    try (CardReader reader = target.open()) {
      Map<GpuUuid, String> cards = target.set(reader, Mode.DRAIN, reason, clock).names();
      cards.values().forEach(card -> out.println(card + " is being drained"));
      return noWait || waited(reader, cards.keySet(), clock, out) ? 0 : NOT_YET;
    }
  }

  private boolean waited(CardReader reader, Set<GpuUuid> cards, Clock clock, PrintWriter out) {
    Instant end = clock.instant().plus(timeout);
    Map<String, String> told = new HashMap<>();
    while (true) {
      List<Holder> holders = reader.holders(target.node(), cards);
      List<Holder> going = holders.stream().filter(h -> h.stays().isEmpty()).toList();
      holders.stream()
          .filter(h -> !h.stays().isEmpty())
          .forEach(h -> tell(told, h, "stays: it is " + h.stays(), out));
      going.stream().limit(ASKED_AFTER).forEach(h -> tell(told, h, state(reader, h), out));
      out.flush();
      if (going.isEmpty()) {
        out.println("node " + target.node() + ": drained");
        return true;
      }
      if (!clock.instant().isBefore(end)) {
        spec.commandLine()
            .getErr()
            .println(
                "node "
                    + target.node()
                    + ": "
                    + going.size()
                    + " pods still hold the GPUs; the drain goes on");
        return false;
      }
      LockSupport.parkNanos(LOOK_EVERY.toNanos());
    }
  }

  private static String state(CardReader reader, Holder pod) {
    if (pod.leaving()) {
      return "is ending";
    }
    String word = reader.lastWord(pod);
    return word.isEmpty() ? "waits for the controller" : word;
  }

  /** Once for each thing that can be said of a pod. */
  private static void tell(Map<String, String> told, Holder pod, String what, PrintWriter out) {
    if (!what.equals(told.put(pod.uid(), what))) {
      out.println("pod " + pod.namespace() + "/" + pod.name() + ": " + what);
    }
  }
}
