package io.vgpu.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.testing.Built;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** {@code docs/weaknesses.md}: every number once, and no test in it that does not exist. */
class WeaknessesDocTest {
  private static final int WEAKNESSES = 62;
  private static final Pattern ROW = Pattern.compile("\\| 13-(\\d+) \\| ([^|]+) \\| ([^|]+) \\|");
  private static final Pattern TEST = Pattern.compile("`([A-Z]\\w+)(?:\\.(\\w+))?`");

  @Test
  void everyWeaknessIsShownByTestsThatExistOrIsSaidToBeOpen() throws IOException {
    Map<String, String> sources = testSources();
    List<Integer> numbers = new ArrayList<>();
    List<String> missing = new ArrayList<>();
    for (String line : Files.readAllLines(Built.docs("weaknesses.md"))) {
      Matcher row = ROW.matcher(line);
      if (!row.matches()) {
        continue;
      }
      numbers.add(Integer.parseInt(row.group(1)));
      String shown = row.group(3);
      List<MatchResult> tests =
          shown.startsWith("open") ? List.of() : TEST.matcher(shown).results().toList();
      assertThat(shown.startsWith("open") || !tests.isEmpty()).as(line).isTrue();
      for (MatchResult test : tests) {
        String source = sources.getOrDefault(test.group(1), "");
        String method = test.group(2);
        if (source.isEmpty() || method != null && !source.contains("void " + method + "(")) {
          missing.add("13-" + row.group(1) + ": " + test.group());
        }
      }
    }
    assertThat(missing).isEmpty();
    assertThat(numbers).isEqualTo(IntStream.rangeClosed(1, WEAKNESSES).boxed().toList());
  }

  private static Map<String, String> testSources() throws IOException {
    Map<String, String> sources = new HashMap<>();
    for (String module : List.of("agent", "control-plane", "deploy/e2e", "events")) {
      Path tests = Built.docs("..").resolve(module).resolve("src/test/java");
      try (Stream<Path> files = Files.walk(tests)) {
        for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
          String name = String.valueOf(file.getFileName()).replace(".java", "");
          sources.merge(name, Files.readString(file), (a, b) -> a + b);
        }
      }
    }
    return sources;
  }
}
