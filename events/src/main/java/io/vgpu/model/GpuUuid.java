package io.vgpu.model;

import static io.vgpu.model.Checks.check;

/**
 * The identity of a card (or MIG slice), as NVML prints it: {@code GPU-…} or {@code MIG-…}.
 *
 * <p>The claim text uses {@code _ , ; [ ]} as separators (node-agent.md 1.7) and device ids use
 * {@code ::}, so none of them, and no white space, may be part of it. NVML's buffer is 80 bytes,
 * ours in {@code abi.h} 48 with the final NUL.
 */
public record GpuUuid(String value) implements Comparable<GpuUuid> {
  public static final int MAX_LENGTH = 47;

  public GpuUuid {
    check(
        !value.isEmpty() && value.length() <= MAX_LENGTH,
        "GPU UUID \"%s\": must have 1 to %d characters",
        value,
        MAX_LENGTH);
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      check(
          c > ' ' && c < 0x7f && "_,;[]:".indexOf(c) < 0,
          "GPU UUID \"%s\": character %d is not allowed (letters, digits, - and / are)",
          value,
          i + 1);
    }
  }

  @Override
  public int compareTo(GpuUuid other) {
    return value.compareTo(other.value);
  }

  @Override
  public String toString() {
    return value;
  }
}
