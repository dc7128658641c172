package io.vgpu.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vgpu.model.GpuDevice;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.NodeConfig;
import io.vgpu.model.NodeTopology;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class InventoryCodecTest {
  private static final String A10 =
      "[{\"id\":0,\"type\":\"NVIDIA A10\",\"uuid\":\"GPU-11111111-2222-3333-4444-555555555555\",\"core\":100,"
          + "\"memory\":23028,\"number\":10,\"numa\":0,\"mig\":false,\"busId\":\"0000:3b:00.0\",\"capability\":8.6,\"healthy\":true}]";

  @Test
  void writesTheWorkedExampleOfARegister() {
    GpuDevice device =
        new GpuDevice(
            0,
            "NVIDIA A10",
            new GpuUuid("GPU-11111111-2222-3333-4444-555555555555"),
            100,
            23028,
            10,
            0,
            false,
            "0000:3b:00.0",
            8.6f,
            true);
    assertThat(InventoryCodec.encodeRegister(List.of(device))).isEqualTo(A10);
    assertThat(InventoryCodec.decodeRegister(A10)).containsExactly(device);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"deviceSplit\":10,\"coresScaling\":1,\"memoryFactor\":1,\"memoryScaling\":1.5}",
        "{\"deviceSplit\":4,\"coresScaling\":0.9,\"memoryFactor\":256,\"memoryScaling\":1}"
      })
  void readsAndWritesTheWorkedExamplesOfAConfig(String text) {
    assertThat(InventoryCodec.encodeConfig(InventoryCodec.decodeConfig(text))).isEqualTo(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[{\"index\":0,\"links\":{\"1\":[2,10]}},{\"index\":1,\"links\":{\"0\":[2,10]}}]",
        "[{\"index\":0,\"links\":{\"1\":[1]}},{\"index\":1,\"links\":{\"0\":[1]}}]"
      })
  void readsAndWritesTheWorkedExamplesOfATopology(String text) {
    assertThat(InventoryCodec.encodeTopology(InventoryCodec.decodeTopology(text))).isEqualTo(text);
  }

  @Test
  void skipsUnknownFieldsAndSortsById() {
    String two =
        "["
            + A10.substring(1, A10.length() - 1).replace("\"id\":0", "\"id\":3")
            + ","
            + A10.substring(1, A10.length() - 1)
                .replace("GPU-1", "GPU-2")
                .replace("\"id\":0", "\"future\":{},\"id\":1")
            + "]";
    assertThat(InventoryCodec.decodeRegister(two)).extracting(GpuDevice::id).containsExactly(1, 3);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "``|must not be empty",
        "nonsense|not JSON",
        "{}|must be a JSON array",
        "[1]|node-device-register[0]: must be a JSON object",
        "[{}]|node-device-register[0].id: is missing"
      })
  void refusesABadRegister(String text, String says) {
    assertThatThrownBy(() -> InventoryCodec.decodeRegister(text))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining(says);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "\"id\":0|\"id\":\"0\"|.id: \"0\" must be a whole number",
        "\"id\":0|\"id\":-1|device id -1",
        "\"memory\":23028|\"memory\":1.5|.memory: 1.5 must be a whole number",
        "\"healthy\":true|\"healthy\":1|.healthy: 1 must be true or false",
        "\"uuid\":\"GPU-1|\"uuid\":\"GPU_1|GPU UUID"
      })
  void namesTheFieldOfABadDevice(String from, String to, String says) {
    assertThatThrownBy(() -> InventoryCodec.decodeRegister(A10.replace(from, to)))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining(says);
  }

  @Test
  void anExclusionIsPublishedAndACordonIsNot() {
    GpuDevice card = InventoryCodec.decodeRegister(A10).getFirst();
    String excluded =
        InventoryCodec.encodeRegister(List.of(card.withheld(GpuDevice.Withheld.EXCLUDED)));
    assertThat(excluded).contains("\"healthy\":true,\"excluded\":true");
    assertThat(InventoryCodec.decodeRegister(excluded).getFirst().withheld())
        .isEqualTo(GpuDevice.Withheld.EXCLUDED);
    assertThat(InventoryCodec.encodeRegister(List.of(card.withheld(GpuDevice.Withheld.CORDONED))))
        .isEqualTo(InventoryCodec.encodeRegister(List.of(card)));
  }

  @Test
  void refusesTwoCardsWithOneUuid() {
    String twice =
        "["
            + A10.substring(1, A10.length() - 1)
            + ","
            + A10.substring(1, A10.length() - 1).replace("\"id\":0", "\"id\":1")
            + "]";
    assertThatThrownBy(() -> InventoryCodec.decodeRegister(twice))
        .hasMessageContaining("stands twice");
  }

  @Property(tries = 200)
  void registerRoundTrips(@ForAll("registers") List<GpuDevice> devices) {
    assertThat(InventoryCodec.decodeRegister(InventoryCodec.encodeRegister(devices)))
        .isEqualTo(devices);
  }

  @Property(tries = 200)
  void configRoundTrips(@ForAll("configs") NodeConfig config) {
    assertThat(InventoryCodec.decodeConfig(InventoryCodec.encodeConfig(config))).isEqualTo(config);
  }

  @Property(tries = 200)
  void topologyRoundTrips(@ForAll("topologies") NodeTopology topology) {
    assertThat(InventoryCodec.decodeTopology(InventoryCodec.encodeTopology(topology)))
        .isEqualTo(topology);
  }

  @Property(tries = 2000)
  void anyTextIsReadOrRefused(@ForAll("texts") String text) {
    for (Runnable read :
        List.<Runnable>of(
            () -> InventoryCodec.decodeRegister(text),
            () -> InventoryCodec.decodeConfig(text),
            () -> InventoryCodec.decodeTopology(text))) {
      try {
        read.run();
      } catch (FormatException refused) {
        assertThat(refused).hasMessageMatching("(?s).+");
      }
    }
  }

  @Provide
  Arbitrary<List<GpuDevice>> registers() {
    return ModelArbitraries.registers();
  }

  @Provide
  Arbitrary<NodeConfig> configs() {
    return ModelArbitraries.configs();
  }

  @Provide
  Arbitrary<NodeTopology> topologies() {
    return ModelArbitraries.topologies();
  }

  @Provide
  Arbitrary<String> texts() {
    Arbitrary<String> wild = Arbitraries.strings().ofMaxLength(80);
    Arbitrary<String> near =
        Arbitraries.strings().withChars("{}[]\":,0123456789.eE-+tfn idx").ofMaxLength(60);
    Arbitrary<String> cut =
        Arbitraries.oneOf(
                registers().map(InventoryCodec::encodeRegister),
                topologies().map(InventoryCodec::encodeTopology))
            .flatMap(
                t -> Arbitraries.integers().between(0, t.length()).map(n -> t.substring(0, n)));
    return Arbitraries.oneOf(wild, near, cut);
  }
}
