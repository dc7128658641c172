package io.vgpu.agent.kubelet;

/**
 * How many ListAndWatch streams the kubelet holds open: none means that it does not watch us.
 * Shared by the service, which sees them begin and end, and the registrar. Any thread.
 */
public final class OpenStreams {
  private int open;
  private Runnable onNoneLeft = () -> {};

  /** {@code onNoneLeft} runs when the last stream ends, on the thread that saw it. */
  synchronized void whenNoneLeft(Runnable onNoneLeft) {
    this.onNoneLeft = onNoneLeft;
  }

  /** A stream began. */
  public synchronized void opened() {
    open++;
  }

  /** A stream ended, for whatever cause. */
  public void ended() {
    Runnable tell = () -> {};
    synchronized (this) {
      open--;
      if (open == 0) {
        tell = onNoneLeft;
      }
    }
    tell.run();
  }

  /** Whether anybody watches. */
  public synchronized boolean any() {
    return open > 0;
  }
}
