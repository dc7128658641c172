package io.vgpu.agent.shim;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.testing.Built;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The mirror says exactly what the header says, no name more or less. */
class AbiLayoutTest {
  @Test
  void everyConstantSizeAndOffsetIsTheHeaders() throws Exception {
    Map<String, String> header = dump();
    Map<String, String> mirror = mirror();

    assertThat(header).hasSizeGreaterThan(150);
    assertThat(mirror).containsExactlyInAnyOrderEntriesOf(header);
  }

  private static Map<String, String> dump() throws IOException, InterruptedException {
    Process process = new ProcessBuilder(Built.shim("abi-dump").toString()).start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).isZero();
    Map<String, String> lines = new TreeMap<>();
    for (String line : out.lines().toList()) {
      String[] pair = line.split(" ", 2);
      lines.put(pair[0], pair[1].startsWith("0x") ? unsigned(pair[1].substring(2)) : pair[1]);
    }
    return lines;
  }

  private static String unsigned(String hex) {
    return Long.toUnsignedString(Long.parseUnsignedLong(hex, 16));
  }

  private static Map<String, String> mirror() throws IllegalAccessException {
    Map<String, String> names = new TreeMap<>();
    for (Field f : Abi.class.getDeclaredFields()) {
      names.put("VGPU_" + f.getName(), text(f));
    }
    for (Class<?> type : Abi.class.getDeclaredClasses()) {
      String struct = "vgpu_" + snake(type.getSimpleName());
      for (Field f : type.getDeclaredFields()) {
        boolean size = f.getName().equals("SIZEOF");
        names.put(
            size ? "sizeof." + struct : struct + "." + f.getName().toLowerCase(Locale.ROOT),
            text(f));
      }
    }
    return names;
  }

  private static String text(Field field) throws IllegalAccessException {
    return switch (field.get(null)) {
      case Integer i -> Integer.toUnsignedString(i);
      case Long l -> Long.toUnsignedString(l);
      case String s -> s;
      default -> throw new AssertionError("constant of another type: " + field);
    };
  }

  private static String snake(String camel) {
    return Arrays.stream(camel.split("(?=[A-Z])"))
        .map(w -> w.toLowerCase(Locale.ROOT))
        .collect(Collectors.joining("_"));
  }
}
