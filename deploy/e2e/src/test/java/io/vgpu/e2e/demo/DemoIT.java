package io.vgpu.e2e.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.junit.RealCluster;
import io.vgpu.e2e.product.Checkout;
import io.vgpu.e2e.product.Product;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The demo passes, and each deliberate break is noticed at the step that it breaks. */
@RealCluster
class DemoIT {
  private final ByteArrayOutputStream said = new ByteArrayOutputStream();
  private final Demo demo;

  DemoIT(Cluster cluster) {
    demo =
        new Demo(
            cluster,
            new Product(cluster, Checkout.find()),
            new PrintStream(said, true, StandardCharsets.UTF_8));
  }

  @AfterEach
  void clean() {
    demo.clean();
  }

  private String said() {
    return said.toString(StandardCharsets.UTF_8);
  }

  @Test
  void showsThreePodsTheirWayAndPasses() {
    Demo.Outcome outcome = demo.run(Optional.empty());
    assertThat(outcome.line()).as(said()).isEqualTo("demo: PASS");
    assertThat(said())
        .contains("kubelet pid", "containerd pid", "by-type", "two-spread", "vgpu-example");
  }

  @ParameterizedTest
  @EnumSource(Break.class)
  void noticesEachBreak(Break broken) {
    Demo.Outcome outcome = demo.run(Optional.of(broken));
    assertThat(outcome.pass()).as(said()).isFalse();
    assertThat(outcome.line()).as(said()).startsWith("demo: FAIL " + broken.word() + ": ");
  }
}
