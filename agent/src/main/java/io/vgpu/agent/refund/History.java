package io.vgpu.agent.refund;

/**
 * The last intervals of one process, in order and not overlapping; the n-th ever added keeps its
 * number. Takes memory only once there is one.
 */
final class History {
  static final int SIZE = 512;
  private static final long[] NONE = {};

  private long[] starts = NONE;
  private long[] ends = NONE;
  private long first;
  private long next;

  long first() {
    return first;
  }

  long next() {
    return next;
  }

  long start(long n) {
    return starts[(int) (n % SIZE)];
  }

  long end(long n) {
    return ends[(int) (n % SIZE)];
  }

  void add(long start, long end) {
    if (starts.length == 0) {
      starts = new long[SIZE];
      ends = new long[SIZE];
    }
    if (next - first == SIZE) {
      first++;
    }
    starts[(int) (next % SIZE)] = start;
    ends[(int) (next % SIZE)] = end;
    next++;
  }

  /** The first interval that ends after {@code at}; {@link #next} if none does. */
  long firstAfter(long at) {
    long low = first;
    long high = next;
    while (low < high) {
      long middle = low + (high - low) / 2;
      if (end(middle) > at) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
}
