package io.vgpu.control.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * The cases of control-plane.md 8, from {@code scenarios/scheduler-cases.json}: each one is a test,
 * and the last line says how many hold and which ones are replaced by decision D1.
 */
class ScenariosTest {
  @TempDir static Path folder;

  private static JsonNode file = ExtenderJson.JSON.createObjectNode();
  private static final List<String> HELD = new ArrayList<>();
  private static final List<String> ALL = new ArrayList<>();

  @BeforeAll
  static void read() throws IOException {
    try (InputStream in =
        Objects.requireNonNull(
            ScenariosTest.class.getResourceAsStream("/scenarios/scheduler-cases.json"))) {
      file = ExtenderJson.JSON.readTree(in);
    }
  }

  @Test
  void allIdsOfTheTableAreThere() {
    List<Integer> ids = new ArrayList<>();
    file.get("cases").forEach(c -> ids.add(c.get("id").asInt()));
    assertThat(ids).hasSizeGreaterThanOrEqualTo(80).doesNotHaveDuplicates();
    assertThat(ids).isSorted().startsWith(1).endsWith(84).hasSize(84);
  }

  @TestFactory
  Stream<DynamicTest> cases() {
    return Stream.concat(file.get("cases").valueStream(), file.get("more").valueStream())
        .map(
            c ->
                DynamicTest.dynamicTest(
                    c.get("id") + " " + c.get("title").asString(), () -> run(c)));
  }

  private static void run(JsonNode words) throws Exception {
    boolean ofTable = words.get("id").isNumber();
    if (ofTable) {
      ALL.add(words.get("id").toString());
    }
    if (words.has("each")) {
      for (JsonNode one : words.get("each")) {
        one(words, one);
      }
    } else {
      one(words, words);
    }
    if (ofTable) {
      HELD.add(words.get("id").toString());
    }
  }

  private static void one(JsonNode all, JsonNode words) throws Exception {
    CaseNodes nodes = new CaseNodes(file.get("fixtures"));
    PlanCases plans = new PlanCases(nodes);
    SmallCases small = new SmallCases();
    switch (all.path("do").asString("plan")) {
      case "plan" -> plans.plan(words);
      case "rank" -> plans.rank(all, words);
      case "search" -> plans.search(words);
      case "http" -> new HttpCases(nodes, folder).run(words);
      case "preempt" -> new PreemptCases(nodes).preempt(words);
      case "bounds" -> new PreemptCases(nodes).bounds(words);
      case "counts" -> small.counts(words);
      case "eligible" -> small.eligible(words);
      case "aggregate" -> small.aggregate(words);
      case "gang" -> small.gang(words);
      default -> throw new AssertionError("no such kind of case: " + all.get("do"));
    }
  }

  @AfterAll
  static void tell() {
    System.out.println(
        "control-plane.md 8: "
            + HELD.size()
            + "/"
            + file.get("cases").size()
            + " cases hold"
            + (HELD.size() == ALL.size()
                ? ""
                : "; not: "
                    + ALL.stream()
                        .filter(id -> !HELD.contains(id))
                        .collect(Collectors.joining(", "))));
    System.out.println(
        "replaced by D1: "
            + file.get("replaced")
                .valueStream()
                .map(r -> r.get("case").asString() + " (" + r.get("is").asString() + ")")
                .collect(Collectors.joining("; ")));
  }
}
