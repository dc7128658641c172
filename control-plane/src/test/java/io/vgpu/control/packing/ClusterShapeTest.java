package io.vgpu.control.packing;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.testing.Nodes;
import io.vgpu.model.NodeConfig;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ClusterShapeTest {
  @Test
  void isOfTheNodesThatHaveCards() {
    assertThat(ClusterShape.of(List.of(Nodes.view("n", Nodes.u(4), NodeConfig.DEFAULT))))
        .extracting(ClusterShape::largestNode)
        .isEqualTo(4 * Room.CARD);
  }

  /** Nodes with cards may come after the extender has looked: until then idle ones are not full. */
  @Test
  void anIdleCardIsNeverFullForWantOfAMeasure() {
    ClusterShape nothing = ClusterShape.of(List.<NodeView>of());
    WorkloadModel model = WorkloadModel.of(1, 0, Map.of(), nothing);
    assertThat(model.tight(64_000, 8 * Room.CARD)).isLessThan(model.tight(64_000, 0));
  }
}
