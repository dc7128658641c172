package io.vgpu.control.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.vgpu.control.cluster.TopologyMode;
import io.vgpu.control.cluster.Wishes;
import io.vgpu.model.Reason;
import java.time.Duration;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

/** Counts what the extender does. Any thread. */
public final class SchedulerMeters {
  /** 0.1 ms times 3^i. */
  private static final Duration[] BUCKETS =
      IntStream.range(0, 12)
          .mapToObj(i -> Duration.ofNanos((long) (100_000 * Math.pow(3, i))))
          .toArray(Duration[]::new);

  private final MeterRegistry registry;

  /** The verbs, as metrics name them. */
  public enum Verb {
    FILTER("filter"),
    PRIORITIZE("prioritize"),
    STEER("steer"),
    BIND("bind"),
    PREEMPT("preempt"),
    FILTER_DRYRUN("filter_dryrun");

    private final String word;

    Verb(String word) {
      this.word = word;
    }

    /** The label's value. */
    public String word() {
      return word;
    }
  }

  /** Parts of a verb's time. */
  public enum Stage {
    TOTAL("total"),
    PLAN("plan"),
    API("api");

    private final String word;

    Stage(String word) {
      this.word = word;
    }
  }

  /** How a verb ended. */
  public enum Result {
    FIT("fit"),
    NO_FIT("no_fit"),
    PASSTHROUGH("passthrough"),
    ERROR("error"),
    SUCCESS("success"),
    VICTIMS("victims"),
    NO_VICTIMS("no_victims"),
    CONFLICT("conflict"),
    NO_NODE("no_node"),
    POD_NOT_FOUND("pod_not_found"),
    UID_MISMATCH("uid_mismatch"),
    BIND_FAILED("bind_failed");

    private final String word;

    Result(String word) {
      this.word = word;
    }

    /** The label's value. */
    public String word() {
      return word;
    }
  }

  public SchedulerMeters(MeterRegistry registry) {
    this.registry = registry;
  }

  /** One call of a verb has ended. */
  public void verb(Verb verb, Result result, Duration took) {
    counter(ControlMeters.VERB, "verb", verb.word, "result", result.word).increment();
    stage(verb, Stage.TOTAL, took);
  }

  /** A part of a verb has ended. */
  public void stage(Verb verb, Stage stage, Duration took) {
    Timer.builder(ControlMeters.VERB_DURATION.meterName())
        .description(ControlMeters.VERB_DURATION.description())
        .tags("verb", verb.word, "stage", stage.word)
        .serviceLevelObjectives(BUCKETS)
        .register(registry)
        .record(took);
  }

  /** A node was refused to a pod. */
  public void reject(Verb verb, Reason reason) {
    reject(verb, reason, 1);
  }

  /** So many nodes were refused to a pod. */
  public void reject(Verb verb, Reason reason, int nodes) {
    counter(ControlMeters.NODE_REJECT, "verb", verb.word, "code", reason.code()).increment(nodes);
  }

  /** A pod was bound. */
  public void placed(Wishes wishes) {
    counter(
            ControlMeters.POD_POLICY,
            "node_policy",
            wishes.nodePolicy().word(),
            "device_policy",
            wishes.devicePolicy().word(),
            "topology_mode",
            wishes.topology().word())
        .increment();
  }

  /**
   * A pod with a topology mode was bound: how close its cards are, and where they were looked for.
   */
  public void topology(Wishes wishes, String closeness, String window) {
    if (wishes.topology() != TopologyMode.NONE) {
      counter(
              ControlMeters.TOPOLOGY_PLACEMENT,
              "mode",
              wishes.topology().word(),
              "result",
              closeness)
          .increment();
    }
    if (wishes.crossPod()) {
      counter(ControlMeters.CROSSPOD_ALIGNMENT, "result", window).increment();
    }
  }

  /** Nodes were refused because a strict topology mode cannot be kept there. */
  public void strictReject(TopologyMode mode, int nodes) {
    counter(ControlMeters.TOPOLOGY_STRICT_REJECT, "mode", mode.word()).increment(nodes);
  }

  /** A search among linked cards. */
  public void linkSearch(boolean exhaustive, int candidates) {
    String algo = exhaustive ? "exhaustive" : "greedy";
    counter(ControlMeters.LINK_SEARCH, "algo", algo).increment();
    DistributionSummary.builder(ControlMeters.LINK_SEARCH_CANDIDATES.meterName())
        .description(ControlMeters.LINK_SEARCH_CANDIDATES.description())
        .tags("algo", algo)
        .serviceLevelObjectives(2, 4, 6, 8, 12, 16, 24, 32, 64)
        .register(registry)
        .record(candidates);
  }

  /** A node is offered for preemption with so many victims more than kube-scheduler proposed. */
  public void victimsAdded(int added) {
    DistributionSummary.builder(ControlMeters.PREEMPT_VICTIMS_ADDED.meterName())
        .description(ControlMeters.PREEMPT_VICTIMS_ADDED.description())
        .serviceLevelObjectives(0.5, 1, 2, 3, 4, 6, 8, 16)
        .register(registry)
        .record(added);
  }

  /** A proposed victim is kept from being one. */
  public void victimProtected(String reason) {
    counter(ControlMeters.PREEMPT_PROTECTED, "reason", reason).increment();
  }

  /** One of the meters without labels. */
  public void count(ControlMeters meter) {
    counter(meter).increment();
  }

  /** Shows how many commits are in flight. */
  public void inFlight(IntSupplier commits) {
    Gauge.builder(ControlMeters.IN_FLIGHT.meterName(), commits, IntSupplier::getAsInt)
        .description(ControlMeters.IN_FLIGHT.description())
        .strongReference(true)
        .register(registry);
  }

  /** Shows from how many pods the workload model was learned. */
  public void workload(LongSupplier pods) {
    Gauge.builder(ControlMeters.WORKLOAD_PODS.meterName(), pods, LongSupplier::getAsLong)
        .description(ControlMeters.WORKLOAD_PODS.description())
        .strongReference(true)
        .register(registry);
  }

  private Counter counter(ControlMeters meter, String... tags) {
    return Counter.builder(meter.meterName())
        .description(meter.description())
        .tags(tags)
        .register(registry);
  }
}
