package io.vgpu.e2e.burst;

/** Something that happens at a planned moment, counted from the first wave's beginning. */
sealed interface Step {
  int atMs();

  /** A pod or a Job is made. */
  record Create(int atMs, PodPlan pod) implements Step {
    @Override
    public String toString() {
      return "create " + pod.name();
    }
  }

  /** From now on the scheduling gates of this pod, or of this Job's pods, are removed. */
  record OpenGate(int atMs, String name) implements Step {
    @Override
    public String toString() {
      return "open the gate of " + name;
    }
  }

  /** A process is killed with SIGKILL and started again after it was down for {@code downMs}. */
  record Kill(int atMs, Victim victim, int downMs) implements Step {
    @Override
    public String toString() {
      return "kill -9 the " + victim + ", down for " + downMs + " ms";
    }
  }

  /** The kubelet is killed, and finds no checkpoint of devices when it starts. */
  record LoseCheckpoint(int atMs, int downMs) implements Step {
    @Override
    public String toString() {
      return "kill -9 the kubelet and lose its checkpoint, down for " + downMs + " ms";
    }
  }

  /** A bare pod is force-deleted and made again at once, with another request. */
  record Remake(int atMs, PodPlan pod) implements Step {
    @Override
    public String toString() {
      return "force-delete " + pod.name() + " and make it again";
    }
  }
}
