package io.vgpu.agent.refund;

/** A stretch of the host's CLOCK_MONOTONIC in ns; {@code end} is after {@code start}. */
record Span(long start, long end) {
  long length() {
    return end - start;
  }
}
