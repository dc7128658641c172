package io.vgpu.control.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.FormatException;
import io.vgpu.claim.Names;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Whatever stands in a body, the parsers answer or name what is wrong; they never break. */
class ExtenderJsonFuzzTest {
  private static final String ARGS =
      """
      {"Pod":{"metadata":{"name":"p","namespace":"ns","uid":"u","resourceVersion":"7",
      "annotations":{"nvidia.com/node-scheduler-policy":"binpack"}},"spec":{"nodeName":"",
      "initContainers":[{"name":"i","restartPolicy":"Always","resources":{"limits":{"nvidia.com/vgpu-number":"1"}}}],
      "containers":[{"name":"c","resources":{"limits":{"nvidia.com/vgpu-number":"1","nvidia.com/vgpu-memory":"4k","cpu":"100m"}}}]}},
      "Nodes":{"items":[{"metadata":{"name":"n1","annotations":{"a":"b"}},"status":{"allocatable":{"nvidia.com/vgpu-number":"10"}}}]},
      "NodeNames":["n1","n2"]}
      """;
  private static final String BIND =
      "{\"PodName\":\"p\",\"PodNamespace\":\"ns\",\"PodUID\":\"u\",\"Node\":\"n1\"}";
  private static final List<String> POISON =
      List.of(
          "null",
          "true",
          "{}",
          "[]",
          "-1",
          "1e999999999",
          "\"1e99999999\"",
          "\"\"",
          "[[[[",
          "\"\\u0000\"",
          "99999999999999999999999999999999999999999999",
          "{\"limits\":7}",
          "\"0x10\"",
          "\"-5\"",
          "\"1.5Gi\"");

  private final ExtenderJson json = new ExtenderJson(Names.DEFAULT, true);

  @Property(tries = 4000)
  void wrongBodiesAreNamedNotCrashed(@ForAll long seed) {
    Random random = new Random(seed);
    byte[] args = broken(ARGS, random).getBytes(StandardCharsets.UTF_8);
    byte[] bind = broken(BIND, random).getBytes(StandardCharsets.UTF_8);
    if (random.nextInt(4) == 0 && args.length > 0) {
      args[random.nextInt(args.length)] = (byte) random.nextInt(256);
    }
    speaks(
        () -> {
          ExtenderArgs read = json.args(args);
          read.items().forEach(item -> speaks(() -> json.node(item)));
        });
    speaks(() -> json.bindArgs(bind));
  }

  private static void speaks(Runnable parser) {
    try {
      parser.run();
    } catch (FormatException e) {
      assertThat(e.getMessage()).isNotBlank();
    }
  }

  /** Cuts, doubles, swaps or poisons pieces of a sound body. */
  private static String broken(String sound, Random random) {
    StringBuilder text = new StringBuilder(sound);
    for (int i = random.nextInt(5); i >= 0; i--) {
      int at = random.nextInt(text.length() + 1);
      switch (random.nextInt(5)) {
        case 0 -> text.setLength(at);
        case 1 -> text.insert(at, POISON.get(random.nextInt(POISON.size())));
        case 2 -> poisonValue(text, random);
        case 3 -> text.insert(at, text.substring(0, Math.min(at, 40)));
        default -> {
          if (at < text.length()) {
            text.deleteCharAt(at);
          }
        }
      }
    }
    return text.toString();
  }

  /** Replaces the value after some colon by something of another kind, which stays valid JSON. */
  private static void poisonValue(StringBuilder text, Random random) {
    int colon = text.indexOf("\":", random.nextInt(text.length() + 1));
    if (colon >= 0) {
      int end = colon + 2;
      while (end < text.length() && ",}]".indexOf(text.charAt(end)) < 0) {
        end++;
      }
      text.replace(colon + 2, end, POISON.get(random.nextInt(POISON.size())));
    }
  }
}
