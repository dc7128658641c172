package io.vgpu.claim;

import io.vgpu.model.ContainerClaim;
import io.vgpu.model.CorePercent;
import io.vgpu.model.DeviceClaim;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.MemoryMiB;
import io.vgpu.model.NodeConfig;
import io.vgpu.model.NodeTopology;
import io.vgpu.model.PodClaim;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;

/** Random values of the model for round-trip properties. */
final class ModelArbitraries {
  private ModelArbitraries() {}

  static Arbitrary<GpuUuid> uuids() {
    return Arbitraries.strings()
        .withCharRange('0', '9')
        .withCharRange('a', 'f')
        .withChars('-')
        .ofMinLength(1)
        .ofMaxLength(36)
        .map(s -> new GpuUuid("GPU-" + s));
  }

  static Arbitrary<String> containerNames() {
    Arbitrary<String> end =
        Arbitraries.strings().withCharRange('a', 'z').withCharRange('0', '9').ofLength(1);
    Arbitrary<String> middle =
        Arbitraries.strings()
            .withCharRange('a', 'z')
            .withCharRange('0', '9')
            .withChars('-')
            .ofMaxLength(61);
    return Combinators.combine(end, middle, end).as((a, b, c) -> a + b + c);
  }

  static Arbitrary<DeviceClaim> deviceClaims() {
    return Combinators.combine(
            Arbitraries.integers().between(0, DeviceClaim.MAX_INDEX),
            uuids(),
            Arbitraries.integers().between(0, 100),
            Arbitraries.longs().between(0, MemoryMiB.MAX))
        .as((i, u, c, m) -> new DeviceClaim(i, u, new CorePercent(c), new MemoryMiB(m)));
  }

  static Arbitrary<ContainerClaim> containerClaims() {
    return Combinators.combine(
            containerNames(), deviceClaims().list().ofMaxSize(16).uniqueElements(DeviceClaim::uuid))
        .as(ContainerClaim::new);
  }

  static Arbitrary<PodClaim> podClaims() {
    return containerClaims()
        .list()
        .ofMinSize(1)
        .ofMaxSize(5)
        .uniqueElements(ContainerClaim::container)
        .map(PodClaim::new);
  }

  static Arbitrary<NodeConfig> configs() {
    Arbitrary<Double> scaling = Arbitraries.doubles().between(0, NodeConfig.MAX_SCALING).ofScale(4);
    return Combinators.combine(
            Arbitraries.integers().between(0, 1000),
            scaling,
            Arbitraries.integers().between(0, 65536),
            scaling)
        .as(NodeConfig::new);
  }

  static Arbitrary<List<GpuDevice>> registers() {
    Arbitrary<GpuDevice> device =
        Combinators.combine(
                Combinators.combine(
                        Arbitraries.strings().ofMaxLength(40),
                        uuids(),
                        Arbitraries.strings().alpha().numeric().ofMaxLength(16))
                    .as((type, uuid, bus) -> new Object[] {type, uuid, bus}),
                Arbitraries.integers().between(0, 1000),
                Arbitraries.longs().between(0, MemoryMiB.MAX),
                Arbitraries.integers().between(0, 100),
                Arbitraries.integers().between(-1, 16),
                Arbitraries.of(true, false),
                Arbitraries.floats().between(0, 20).ofScale(2),
                Arbitraries.of(true, false))
            .as(
                (texts, core, memory, number, numa, mig, capability, healthy) ->
                    new GpuDevice(
                        0,
                        (String) texts[0],
                        (GpuUuid) texts[1],
                        core,
                        memory,
                        number,
                        numa,
                        mig,
                        (String) texts[2],
                        capability,
                        healthy));
    return device
        .list()
        .ofMaxSize(16)
        .uniqueElements(GpuDevice::uuid)
        .map(ModelArbitraries::numbered);
  }

  private static List<GpuDevice> numbered(List<GpuDevice> devices) {
    List<GpuDevice> numbered = new ArrayList<>();
    for (GpuDevice d : devices) {
      numbered.add(
          new GpuDevice(
              numbered.size(),
              d.type(),
              d.uuid(),
              d.core(),
              d.memory(),
              d.number(),
              d.numa(),
              d.mig(),
              d.busId(),
              d.capability(),
              d.healthy()));
    }
    return numbered;
  }

  static Arbitrary<NodeTopology> topologies() {
    Arbitrary<List<Integer>> types =
        Arbitraries.integers()
            .between(0, NodeTopology.MAX_LINK_TYPE)
            .list()
            .ofMinSize(1)
            .ofMaxSize(2);
    return Arbitraries.maps(
            Arbitraries.integers().between(0, 7),
            Arbitraries.maps(Arbitraries.integers().between(8, 15), types).ofMaxSize(8))
        .ofMaxSize(8)
        .map(
            links -> {
              SortedMap<Integer, SortedMap<Integer, List<Integer>>> sorted = new TreeMap<>();
              links.forEach((index, peers) -> sorted.put(index, new TreeMap<>(peers)));
              return new NodeTopology(sorted);
            });
  }
}
