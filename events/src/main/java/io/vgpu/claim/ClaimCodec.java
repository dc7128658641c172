package io.vgpu.claim;

import io.vgpu.model.ContainerClaim;
import io.vgpu.model.CorePercent;
import io.vgpu.model.DeviceClaim;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.MemoryMiB;
import io.vgpu.model.PodClaim;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The allocation text {@code name[index_uuid_cores_memoryMiB,…];…} (node-agent.md 1.7,
 * control-plane.md 2.5). Pure.
 *
 * <p>{@link #decode} accepts what the original wrote: spaces are dropped, empty segments between
 * separators skipped.
 */
public final class ClaimCodec {
  /** The API server bounds all annotations of an object to 256 KiB; no claim text can be longer. */
  public static final int MAX_LENGTH = 256 * 1024;

  private ClaimCodec() {}

  /** The text of a pod's claim; {@code decode(encode(c))} equals {@code c}. */
  public static String encode(PodClaim claim) {
    return claim.containers().stream().map(ClaimCodec::encode).collect(Collectors.joining(";"));
  }

  /** The entry of one container, from its name to {@code ]}: the text that the seal covers. */
  public static String encode(ContainerClaim claim) {
    return claim.devices().stream()
        .map(d -> d.index() + "_" + d.uuid() + "_" + d.cores().value() + "_" + d.memory().value())
        .collect(Collectors.joining(",", claim.container() + "[", "]"));
  }

  /**
   * Reads a claim text. Throws {@link FormatException} that names the part and the rule it breaks.
   */
  public static PodClaim decode(String text) {
    if (text.length() > MAX_LENGTH) {
      throw new FormatException(
          "claim text of " + text.length() + " characters: at most " + MAX_LENGTH);
    }
    List<ContainerClaim> containers = new ArrayList<>();
    for (String part : text.replace(" ", "").split(";", -1)) {
      if (!part.isEmpty()) {
        containers.add(container(part));
      }
    }
    return checked("claim", text, () -> new PodClaim(containers));
  }

  private static ContainerClaim container(String part) {
    int open = part.indexOf('[');
    int close = part.indexOf(']');
    if (open < 0 || close != part.length() - 1 || open > close) {
      throw new FormatException("claim entry \"" + clip(part) + "\": must read name[devices]");
    }
    List<DeviceClaim> devices = new ArrayList<>();
    for (String device : part.substring(open + 1, close).split(",", -1)) {
      if (!device.isEmpty()) {
        devices.add(device(device));
      }
    }
    return checked("claim entry", part, () -> new ContainerClaim(part.substring(0, open), devices));
  }

  private static DeviceClaim device(String text) {
    String[] fields = text.split("_", -1);
    if (fields.length != 4) {
      throw new FormatException(
          "claimed device \""
              + clip(text)
              + "\": must have the four parts index_uuid_cores_memory, has "
              + fields.length);
    }
    long index = number("index", fields[0], text);
    long cores = number("cores", fields[2], text);
    long memory = number("memory", fields[3], text);
    return checked(
        "claimed device",
        text,
        () ->
            new DeviceClaim(
                Math.toIntExact(index),
                new GpuUuid(fields[1]),
                new CorePercent(Math.toIntExact(cores)),
                new MemoryMiB(memory)));
  }

  private static long number(String field, String value, String device) {
    // Long.parseLong would also take "+1" and other scripts' digits
    if (value.isEmpty()
        || value.length() > 18
        || !value.chars().allMatch(c -> c >= '0' && c <= '9')) {
      throw new FormatException(
          "claimed device \""
              + clip(device)
              + "\": "
              + field
              + " \""
              + clip(value)
              + "\" must be a decimal number");
    }
    return Long.parseLong(value);
  }

  private interface Maker<T> {
    T make();
  }

  private static <T> T checked(String what, String text, Maker<T> maker) {
    try {
      return maker.make();
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new FormatException(what + " \"" + clip(text) + "\": " + e.getMessage(), e);
    }
  }

  private static String clip(String text) {
    return text.length() <= 120 ? text : text.substring(0, 120) + "…";
  }
}
