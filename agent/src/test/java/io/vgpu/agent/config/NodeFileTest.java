package io.vgpu.agent.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vgpu.runtime.UsageException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NodeFileTest {
  private static final String JSON =
      """
      // who gets what
      [
        {
          nodeName: "gpu-1",
          "deviceSplitCount": 4,
          "deviceCoresScaling": 0.9, /* less */
          "deviceMemoryScaling": 1.5,
          "excludeDevices": [3, "5..6", "GPU-x"],
          "deviceListStrategy": "envvar",
        },
        {"nodeName": "gpu-.*", "deviceSplitCount": 7},
      ]
      """;
  private static final String YAML =
      """
      version: v1
      configs:
        - nodeName: gpu-1
          deviceSplitCount: 4
          deviceMemoryFactor: 256
          deviceListStrategy: [envvar, volume-mounts]
          excludeDevices: "0..1"
          openKernelModules: true
          mpsDevices: [1, GPU-x]
          imex: {channelIDs: [], required: false}
      """;

  @Test
  void theFirstMatchingEntryApplies() {
    NodeFile file = NodeFile.parse("f.json", JSON, false);
    NodeFileEntry entry = file.entryFor("gpu-1");
    assertThat(entry.deviceSplitCount()).isEqualTo(OptionalInt.of(4));
    assertThat(entry.deviceCoresScaling()).isEqualTo(OptionalDouble.of(0.9));
    assertThat(entry.deviceMemoryScaling()).isEqualTo(OptionalDouble.of(1.5));
    assertThat(entry.deviceMemoryFactor()).isEmpty();
    assertThat(entry.excludeDevices().orElseThrow().ids())
        .containsExactlyInAnyOrder("3", "5", "6", "GPU-x");
    assertThat(entry.deviceListStrategy()).contains(List.of("envvar"));
    assertThat(file.entryFor("gpu-12").deviceSplitCount()).isEqualTo(OptionalInt.of(7));
    assertThat(file.entryFor("cpu-1")).isEqualTo(NodeFileEntry.NONE);
  }

  @Test
  void yamlHasTheSameFields() {
    NodeFileEntry entry = NodeFile.parse("f.yaml", YAML, true).entryFor("gpu-1");
    assertThat(entry.deviceSplitCount()).isEqualTo(OptionalInt.of(4));
    assertThat(entry.deviceMemoryFactor()).isEqualTo(OptionalInt.of(256));
    assertThat(entry.deviceListStrategy()).contains(List.of("envvar", "volume-mounts"));
    assertThat(entry.excludeDevices().orElseThrow().ids()).containsExactlyInAnyOrder("0", "1");
    assertThat(entry.mpsDevices().orElseThrow().named().ids())
        .containsExactlyInAnyOrder("1", "GPU-x");
    assertThat(entry.openKernelModules()).isEqualTo(Optional.of(true));
  }

  @ParameterizedTest
  @CsvSource({
    "node-1,node-1,true",
    "' node-1 ',node-1,true",
    "node-.*,node-12,true",
    "node,node-1,false",
    "^node,node-1,true",
    "1$,node-1,true",
    "a|node-1,node-1,true",
    "a|node,node-1,false",
  })
  void namesMatchAsTheSpecificationSays(String pattern, String node, boolean matches) {
    assertThat(NodeFile.matches(pattern, node)).isEqualTo(matches);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      value = {
        "{deviceSplitCont: 4} ~ entry 2, line 2 ~ unknown key \"deviceSplitCont\" (nearest known: deviceSplitCount)",
        "{deviceSplitCount: -1} ~ entry 2, line 2: deviceSplitCount: \"-1\" ~ 1 to 100000",
        "{deviceSplitCount: 1.5} ~ deviceSplitCount ~ whole number",
        "{deviceSplitCount: \"4\"} ~ deviceSplitCount ~ whole number",
        "{deviceMemoryFactor: 0} ~ deviceMemoryFactor ~ 1 to",
        "{deviceCoresScaling: 1001} ~ deviceCoresScaling ~ above 0, at most 1000",
        "{deviceListStrategy: []} ~ deviceListStrategy ~ one or more of envvar",
        "{deviceListStrategy: \"env\"} ~ \"env\" ~ one or more of envvar",
        "{deviceSplitCount: 0} ~ deviceSplitCount ~ 1 to 100000",
        "{deviceMemoryScaling: 0} ~ deviceMemoryScaling ~ above 0",
        "{excludeDevices: \"0-3-5\"} ~ excludeDevices ~ a..b or a-b",
        "{excludeDevices: {}} ~ excludeDevices ~ list of strings and numbers",
        "{migStrategy: \"some\"} ~ migStrategy ~ none, single or mixed",
        "{cgroupDriver: \"host\"} ~ cgroupDriver ~ systemd or cgroupfs",
        "{mpsDevices: \"all,1\"} ~ mpsDevices ~ must stand alone",
        "{mpsDevices: true} ~ mpsDevices ~ list of strings and numbers",
        "{gdrcopyEnabled: 1} ~ gdrcopyEnabled ~ must be true or false",
        "{imex: {channelIDs: [1]}} ~ channelIDs ~ must be an empty list or [0]",
        "{imex: {required: \"maybe\"}} ~ required ~ must be true or false",
        "{imex: 0} ~ imex ~ must be an object",
        "{imex: {chanelIDs: []}} ~ chanelIDs ~ nearest known: channelIDs",
      })
  void whatIsWrongIsNamedWithItsPlaceAndRule(String fields, String where, String rule) {
    String json = "[{nodeName: \"other\"},\n{nodeName: \"n\", " + fields.substring(1) + "]";
    assertThatThrownBy(() -> NodeFile.parse("f.json", json, false).entryFor("n"))
        .isInstanceOf(UsageException.class)
        .hasMessageStartingWith("f.json: ")
        .hasMessageContainingAll(where, rule);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      value = {
        "'' ~ false ~ must not be empty",
        "{} ~ false ~ must be a list",
        "[1] ~ false ~ entry 1, line 1: must be an object",
        "[{nodeName: \"n\" ~ false ~ line 1",
        "[{nodeName: \"n\", nodeName: \"m\"}] ~ false ~ uplicate",
        "[{nodeName: 5}] ~ false ~ nodeName: \"5\" must be a string",
        "[{deviceSplitCount: 4}] ~ false ~ entry 1: nodeName must be",
        "[{nodeName: \"  \"}] ~ false ~ nodeName must be",
        "[{nodeName: \"n\"}, {nodeName: \"node-[\"}] ~ false ~ entry 2, line 1: nodeName: \"node-[\" is neither a name nor",
        "[] [] ~ false ~ nothing may follow",
        "{version: v2, configs: []} ~ true ~ \"v2\" must be v1",
        "{verson: v1, configs: []} ~ true ~ nearest known: version",
      })
  void whatIsNoFileOfOursIsRefused(String text, boolean yaml, String message) {
    assertThatThrownBy(() -> NodeFile.parse("f", text, yaml).entryFor("n"))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining(message);
  }

  @Test
  void suffixSizeAndPresenceAreChecked(@TempDir Path dir) throws IOException {
    assertThatThrownBy(() -> NodeFile.read(dir.resolve("a.txt"))).hasMessageContaining(".json");
    assertThatThrownBy(() -> NodeFile.read(dir.resolve("a.json")))
        .hasMessageContaining("cannot be read");
    Path big = Files.write(dir.resolve("big.json"), new byte[(1 << 20) + 1]);
    assertThatThrownBy(() -> NodeFile.read(big)).hasMessageContaining("at most");
    Path good = Files.writeString(dir.resolve("good.json"), JSON);
    assertThat(NodeFile.read(good).entryFor("gpu-1").deviceSplitCount())
        .isEqualTo(OptionalInt.of(4));
  }

  @Property
  void anyBytesAreReadOrRefused(@ForAll byte[] bytes, @ForAll boolean yaml) {
    readOrRefuse(new String(bytes, StandardCharsets.UTF_8), yaml);
  }

  @Property
  void anyChangeOfAGoodFileIsReadOrRefused(
      @ForAll int at, @ForAll byte value, @ForAll boolean yaml) {
    byte[] bytes = (yaml ? YAML : JSON).getBytes(StandardCharsets.UTF_8);
    bytes[Math.floorMod(at, bytes.length)] = value;
    readOrRefuse(new String(bytes, StandardCharsets.UTF_8), yaml);
  }

  private static void readOrRefuse(String text, boolean yaml) {
    try {
      assertThat(NodeFile.parse("f", text, yaml).entryFor("gpu-1")).isNotNull();
    } catch (UsageException e) {
      assertThat(e).hasMessageStartingWith("f");
    }
  }
}
