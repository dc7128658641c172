package io.vgpu.control.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.runtime.Cli;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.xml.sax.InputSource;
import picocli.CommandLine.Model.CommandSpec;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What {@code vgpu simulate} prints, and what it says of input that it cannot use. */
class SimulateCommandTest {
  private static final String NODES =
      """
      sn,cpu_milli,memory_mib,gpu,model
      a,16000,65536,2,T4
      b,16000,65536,2,T4
      """;
  private static final String PODS =
      """
      name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec
      p1,1000,1024,1,500,
      p2,1000,1024,1,500,
      p3,1000,1024,1,1000,T4
      p4,1000,1024,2,1000,
      p5,1000,1024,0,0,
      """;

  @TempDir private Path folder = Path.of("");

  private record Ran(int status, String out, String err) {}

  private Ran run(String... more) {
    List<String> args =
        new ArrayList<>(
            List.of(
                "simulate",
                "--nodes",
                folder.resolve("nodes.csv").toString(),
                "--pods",
                folder.resolve("pods.csv").toString()));
    args.addAll(List.of(more));
    return ran(args);
  }

  private static Ran ran(List<String> args) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    PrintStream outBefore = System.out;
    PrintStream errBefore = System.err;
    int status;
    try (PrintStream o = new PrintStream(out, true, StandardCharsets.UTF_8);
        PrintStream e = new PrintStream(err, true, StandardCharsets.UTF_8)) {
      System.setOut(o);
      System.setErr(e);
      status = Cli.run(new VgpuMain(CommandSpec.create()), args.toArray(new String[0]));
    } finally {
      System.setOut(outBefore);
      System.setErr(errBefore);
    }
    return new Ran(
        status, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
  }

  private void write(String nodes, String pods) throws IOException {
    Files.writeString(folder.resolve("nodes.csv"), nodes);
    Files.writeString(folder.resolve("pods.csv"), pods);
  }

  @Test
  void jsonIsAListOfPoints() throws IOException {
    write(NODES, PODS);
    Ran ran =
        run("--policy", "fgd,foresight", "--seeds", "42-43", "--inflate", "1", "--format", "json");
    assertThat(ran.err()).isEmpty();
    assertThat(ran.status()).isZero();
    JsonNode points = JsonMapper.shared().readTree(ran.out());
    assertThat(points.isArray()).isTrue();
    for (JsonNode point : points) {
      assertThat(point.propertyNames())
          .containsExactly(
              "policy", "seed", "arrived_percent", "allocated_percent", "fragmented_percent");
    }
    JsonNode last = points.get(points.size() - 1);
    assertThat(last.get("policy").asString()).isEqualTo("foresight");
    assertThat(last.get("seed").asInt()).isEqualTo(43);
    assertThat(last.get("arrived_percent").asDouble()).isEqualTo(100);
    assertThat(last.get("allocated_percent").asDouble()).isEqualTo(100);
  }

  @Test
  void theSameSeedGivesTheSameResult() throws IOException {
    write(NODES, PODS);
    String once = run("--policy", "random,foresight", "--seeds", "7", "--format", "csv").out();
    assertThat(once)
        .startsWith("policy,seed,arrived_percent,allocated_percent,fragmented_percent\n");
    assertThat(run("--policy", "random,foresight", "--seeds", "7", "--format", "csv").out())
        .isEqualTo(once);
  }

  @Test
  void theChartIsSvgWithTwoLinesAPolicy() throws Exception {
    write(NODES, PODS);
    Path chart = folder.resolve("out.svg");
    Ran ran = run("--policy", "binpack,fgd", "--chart", chart.toString());
    assertThat(ran.err()).isEmpty();
    assertThat(ran.out()).contains("policy").contains("binpack").contains("fgd");
    var document =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new InputSource(new StringReader(Files.readString(chart))));
    assertThat(document.getDocumentElement().getTagName()).isEqualTo("svg");
    assertThat(Files.readString(chart)).contains("binpack allocated").contains("fgd allocated");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --policy forsight                | --policy "forsight": must be one of random, bestfit, binpack
          --policy fgd --seeds 9-4         | --seeds "9-4": must be whole numbers
          --policy fgd --seeds x           | --seeds "x": must be whole numbers
          --policy fgd --inflate 0         | --inflate 0.0: must be above 0 and at most 100
          --policy fgd --format xml        | 'xml'
          --policy fgd --polcy x           | unknown flag: --polcy (nearest known: --policy)
          --policy fgd --chart /no/a.svg   | --chart /no/a.svg: cannot be written
          """)
  void refusesWhatItCannotUse(String flags, String message) throws IOException {
    write(NODES, PODS);
    Ran ran = run(flags.split(" "));
    assertThat(ran.err()).contains(message);
    assertThat(ran.status()).isEqualTo(Cli.USAGE);
  }

  @ParameterizedTest(name = "{0} for {1}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          a,16000,65536,2,T4        | a,16000,65536,two,T4        | nodes.csv:2: gpu "two": must be a whole number from 0 to 64
          a,16000,65536,2,T4        | a,16000,65536,2,            | nodes.csv:2: model "": a node with cards must say which
          b,16000,65536,2,T4        | a,16000,65536,2,T4          | nodes.csv:3: sn "a": must be a name of its own
          b,16000,65536,2,T4        | b,16000,65536               | nodes.csv:3: 3 fields: the first line names 5
          gpu,model                 | gpus,model                  | nodes.csv:1: no column gpu
          p3,1000,1024,1,1000,T4    | p3,1000,1024,1,1001,T4      | pods.csv:4: gpu_milli "1001": must be a whole number from 1 to 1000
          p4,1000,1024,2,1000,      | p4,1000,1024,2,500,         | pods.csv:5: gpu_milli "500": must be 1000 where num_gpu is above 1
          p5,1000,1024,0,0,         | p5,-1,1024,0,0,             | pods.csv:6: cpu_milli "-1": must be a whole number from 0
          """)
  void saysFileLineAndFieldOfWhatIsWrong(String right, String wrong, String message)
      throws IOException {
    write(NODES.replace(right, wrong), PODS.replace(right, wrong));
    Ran ran = run("--policy", "fgd");
    assertThat(ran.err()).contains(message);
    assertThat(ran.status()).isEqualTo(Cli.USAGE);
  }

  @Test
  void aFileOfAnotherKindIsNamed() throws IOException {
    write(NODES, PODS);
    Ran ran =
        ran(
            List.of(
                "simulate",
                "--nodes",
                folder.resolve("nodes.txt").toString(),
                "--pods",
                "x",
                "--policy",
                "fgd"));
    assertThat(ran.err()).contains("nodes.txt: must end in .csv (openb) or .yaml");
  }
}
