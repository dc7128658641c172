package io.vgpu.control.scheduler;

import static io.vgpu.control.scheduler.Scenario.placed;
import static io.vgpu.control.scheduler.Scenario.rejected;
import static io.vgpu.control.scheduler.Scenario.row;

import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.Use;
import io.vgpu.control.testing.Nodes;
import io.vgpu.control.testing.Pods;
import io.vgpu.model.Reason;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Rows 1 to 28 of control-plane.md 8: what is asked for, and the include and exclude lists. */
final class RequestScenarios {
  private static final String INCLUDE_TYPE = Pods.NAMES.includeGpuType();
  private static final String EXCLUDE_TYPE = Pods.NAMES.excludeGpuType();
  private static final String INCLUDE_UUID = Pods.NAMES.includeGpuUuid();
  private static final String EXCLUDE_UUID = Pods.NAMES.excludeGpuUuid();

  private static NodeView m4() {
    return Nodes.view(Nodes.m4());
  }

  private static NodeView m4Used(Use... used) {
    return Nodes.used(m4(), used);
  }

  private static NodeView u1() {
    return Nodes.view(Nodes.u(1));
  }

  private static NodeView one(String type) {
    return Nodes.view(List.of(Nodes.card(0, type, 24000, 10, -1)));
  }

  private static String of(int card, int cores, int memory) {
    return card + "_" + Nodes.uuid(card) + "_" + cores + "_" + memory;
  }

  private static Use use(long slots, long cores, long memory) {
    return new Use(slots, cores, memory);
  }

  private RequestScenarios() {}

  static Stream<Scenario> requests() {
    return Stream.of(
        row("1", "memory only", m4(), Pods.of(1, 0, 2048), placed("c1[" + of(0, 0, 2048) + "]")),
        row(
            "2",
            "two cards",
            m4(),
            Pods.of(2, 10, 2048),
            placed("c1[" + of(0, 10, 2048) + "," + of(1, 10, 2048) + "]")),
        row(
            "3",
            "two containers share cards",
            m4(),
            Pods.of(2, 10, 2048).app(2, 10, 2048),
            placed(
                "c1["
                    + of(0, 10, 2048)
                    + ","
                    + of(1, 10, 2048)
                    + "];c2["
                    + of(0, 10, 2048)
                    + ","
                    + of(1, 10, 2048)
                    + "]",
                Map.of(0, use(2, 20, 4096), 1, use(2, 20, 4096)))),
        row(
            "4",
            "the second container needs another card",
            m4(),
            Pods.of(1, 60, 4096).app(1, 60, 4096),
            placed("c1[" + of(0, 60, 4096) + "];c2[" + of(1, 60, 4096) + "]")),
        row("5", "number only", m4(), Pods.of(1, 0, 0), placed("c1[" + of(0, 100, 12288) + "]")),
        row(
            "6",
            "a larger card",
            m4(),
            Pods.of(1, 10, 15000),
            placed("c1[" + of(2, 10, 15000) + "]")),
        row("7", "cores only", m4(), Pods.of(1, 50, 0), placed("c1[" + of(0, 50, 12288) + "]")),
        row(
            "8",
            "cores over 100",
            m4(),
            Pods.of(1, 101, 0),
            rejected(Reason.DEMAND_INVALID, "container c1 requests vGPU core exceeding limit")),
        row(
            "9",
            "number over 16",
            m4(),
            Pods.of(17, 0, 0),
            rejected(Reason.DEMAND_INVALID, "container c1 requests vGPU number exceeding limit")),
        row(
            "10",
            "more cards than there are",
            m4(),
            Pods.of(5, 10, 1000),
            rejected(
                Reason.INSUFFICIENT_GPU_CARDS,
                "Insufficient GPU cards [max 5 devices, node has 4 schedulable]")),
        row(
            "11",
            "more memory than a card has",
            m4(),
            Pods.of(1, 50, 65536),
            rejected(
                Reason.INSUFFICIENT_VGPU_MEMORY,
                "Insufficient vGPU memory [max 65536 memory, largest device has 20480]")),
        row(
            "12",
            "sums over the node",
            m4(),
            Pods.of(2, 100, 12288).app(2, 100, 12288).app(2, 100, 12288),
            rejected(Reason.INSUFFICIENT_VGPU_CORE, "[need 600 cores, available 400]")),
        row(
            "13",
            "no slot left",
            m4Used(use(10, 0, 0), use(10, 0, 0), use(10, 0, 0), use(10, 0, 0)),
            Pods.of(1, 10, 1000),
            rejected(Reason.INSUFFICIENT_GPU_RESOURCES, "[need 1 number, available 0]")),
        row(
            "14",
            "no memory left",
            m4Used(use(1, 0, 12288), use(1, 0, 12288), use(1, 0, 20480), use(1, 0, 20480)),
            Pods.of(1, 10, 1000),
            rejected(Reason.INSUFFICIENT_VGPU_MEMORY, "[need 1000 memory, available 0]")),
        row(
            "15",
            "a card without free cores is not usable, even without a core limit",
            Nodes.used(u1(), use(1, 100, 0)),
            Pods.of(1, 0, 1000),
            rejected(Reason.INSUFFICIENT_VGPU_CORE, "(1/1 InsufficientVGPUCore)")));
  }

  static Stream<Scenario> lists() {
    NodeView sxm80 = one("NVIDIA A100-SXM4-80GB");
    Scenario.Placed whole = placed("c1[" + of(0, 10, 1000) + "]");
    return Stream.of(
        row(
            "16",
            "include type",
            m4(),
            Pods.of(1, 10, 1000).with(INCLUDE_TYPE, "4080"),
            placed("c1[" + of(2, 10, 1000) + "]")),
        row(
            "17",
            "too few of the type",
            m4(),
            Pods.of(3, 10, 1000).with(INCLUDE_TYPE, "4080"),
            rejected(Reason.DEVICE_TYPE_MISMATCH, "only 2 of 3 required devices match")),
        row(
            "18",
            "all types excluded",
            m4(),
            Pods.of(1, 10, 1000).with(EXCLUDE_TYPE, "3080ti, 4080ti"),
            rejected(Reason.DEVICE_TYPE_MISMATCH)),
        row(
            "19",
            "include uuid",
            m4(),
            Pods.of(1, 10, 1000).with(INCLUDE_UUID, "gpu-card-3"),
            placed("c1[" + of(3, 10, 1000) + "]")),
        row(
            "20",
            "a uuid in both lists",
            m4(),
            Pods.of(1, 10, 1000).with(INCLUDE_UUID, "GPU-card-3").with(EXCLUDE_UUID, "GPU-card-3"),
            rejected(Reason.DEVICE_UUID_MISMATCH)),
        row(
            "21 blank",
            "no usable entry",
            m4(),
            Pods.of(1, 10, 1000).with(INCLUDE_TYPE, " "),
            whole),
        row(
            "21 comma",
            "no usable entry",
            m4(),
            Pods.of(1, 10, 1000).with(INCLUDE_TYPE, ",,"),
            whole),
        row(
            "21 empty",
            "no usable entry",
            m4(),
            Pods.of(1, 10, 1000).with(INCLUDE_TYPE, ""),
            whole),
        row("22", "case ignored", sxm80, Pods.of(1, 10, 1000).with(INCLUDE_TYPE, "a100"), whole),
        row(
            "23",
            "blank entries ignored",
            sxm80,
            Pods.of(1, 10, 1000).with(INCLUDE_TYPE, "V100,"),
            rejected(Reason.DEVICE_TYPE_MISMATCH)),
        row(
            "24",
            "exclude another",
            sxm80,
            Pods.of(1, 10, 1000).with(EXCLUDE_TYPE, ",V100"),
            whole),
        row(
            "25",
            "one of several",
            one("NVIDIA GeForce RTX 3080 Ti"),
            Pods.of(1, 10, 1000).with(INCLUDE_TYPE, "RTX 4090,RTX 3080"),
            whole),
        row(
            "26",
            "exclude wins over a substring",
            one("NVIDIA A100-SXM4-40GB"),
            Pods.of(1, 10, 1000).with(INCLUDE_TYPE, "NVIDIA A10").with(EXCLUDE_TYPE, "NVIDIA A100"),
            rejected(Reason.DEVICE_TYPE_MISMATCH)),
        row(
            "27",
            "include one, exclude another uuid",
            u1(),
            Pods.of(1, 10, 1000).with(INCLUDE_UUID, "GPU-card-0").with(EXCLUDE_UUID, "GPU-card-9"),
            whole),
        row(
            "28",
            "the most frequent failure leads",
            m4Used(use(1, 100, 0)),
            Pods.of(2, 10, 1000).with(INCLUDE_TYPE, "RTX3080Ti"),
            rejected(
                Reason.DEVICE_TYPE_MISMATCH,
                "GPU type mismatch (2/4 DeviceTypeMismatch, 1/4 InsufficientVGPUCore)")));
  }
}
