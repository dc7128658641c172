package io.vgpu.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vgpu.model.DeviceCordon;
import io.vgpu.model.DeviceCordon.Mode;
import io.vgpu.model.GpuUuid;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** What operators write about cards. */
class CordonCodecTest {
  private static final GpuUuid A = new GpuUuid("GPU-a");
  private static final GpuUuid B = new GpuUuid("GPU-b");
  private static final DeviceCordon CORDON =
      new DeviceCordon(Mode.CORDON, "fan", "2026-01-01T00:00:00Z");
  private static final DeviceCordon DRAIN =
      new DeviceCordon(Mode.DRAIN, "", "2026-01-01T00:00:00Z");

  @Test
  void readsWhatItWrote() {
    String text = CordonCodec.changed(null, Map.of(A, CORDON, B, DRAIN), List.of());
    assertThat(text)
        .isEqualTo(
            "{\"GPU-a\":{\"mode\":\"cordon\",\"reason\":\"fan\",\"since\":\"2026-01-01T00:00:00Z\"},"
                + "\"GPU-b\":{\"mode\":\"drain\",\"since\":\"2026-01-01T00:00:00Z\"}}");
    assertThat(CordonCodec.read(text))
        .isEqualTo(new CordonCodec.Reading(Map.of(A, CORDON, B, DRAIN), ""));
  }

  @Test
  void keepsTheEntriesOfOthersAlsoUnreadableOnes() {
    String text = "{\"GPU-x\":7,\"GPU-b\":{\"mode\":\"drain\",\"by\":\"me\"}}";
    assertThat(CordonCodec.changed(text, Map.of(A, DRAIN), List.of()))
        .startsWith("{\"GPU-x\":7,\"GPU-b\":{\"mode\":\"drain\",\"by\":\"me\"},\"GPU-a\"");
    assertThat(CordonCodec.changed(text, Map.of(), List.of(B))).isEqualTo("{\"GPU-x\":7}");
    assertThat(CordonCodec.changed("{\"GPU-b\":{}}", Map.of(), List.of(B))).isNull();
  }

  @Test
  void aBadEntryCostsOnlyItself() {
    CordonCodec.Reading read =
        CordonCodec.read(
            "{\"GPU-a\":{\"mode\":\"cordon\"},\"GPU-b\":{\"mode\":\"darin\"},\"a b\":{}}");
    assertThat(read.cordons()).containsOnlyKeys(A);
    assertThat(read.problem())
        .contains("device-cordon.GPU-b: mode \"darin\": must be cordon or drain")
        .contains("device-cordon.a b: ");
  }

  @Test
  void refusesToChangeWhatIsNoObject() {
    assertThatThrownBy(() -> CordonCodec.changed("[]", Map.of(A, DRAIN), List.of()))
        .isInstanceOf(FormatException.class)
        .hasMessage("device-cordon: must be a JSON object");
  }

  @Property
  void anyTextIsReadWithoutFailing(@ForAll String text) {
    CordonCodec.Reading read = CordonCodec.read(text);
    assertThat(read.cordons()).isEmpty();
    assertThat(read.problem().isEmpty()).isEqualTo(text.isBlank() || text.strip().equals("{}"));
  }
}
