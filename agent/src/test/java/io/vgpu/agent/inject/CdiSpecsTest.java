package io.vgpu.agent.inject;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.gpu.PhysicalGpu;
import io.vgpu.agent.gpu.PhysicalGpu.MigDevice;
import io.vgpu.model.GpuUuid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What runtimes read of this node, and that it is what the interface's schema allows. */
class CdiSpecsTest {
  private static final Pattern DEVICE_NAME =
      Pattern.compile("[A-Za-z0-9]([A-Za-z0-9_.:-]*[A-Za-z0-9])?");
  private static final String SLICE = "MIG-00000000-0000-0000-0000-000000000001";

  @TempDir Path dir;
  private Path root;
  private CdiSpecs specs;

  @BeforeEach
  void aNode() throws IOException {
    root = Files.createDirectories(dir.resolve("driver"));
    file("usr/lib64/libcuda.so.570.1");
    Files.createSymbolicLink(root.resolve("usr/lib64/libcuda.so.1"), Path.of("libcuda.so.570.1"));
    file("usr/lib64/libnvidia-ml.so.1");
    file("usr/lib64/libc.so.6");
    Files.createSymbolicLink(
        root.resolve("usr/lib64/libnvidia-cfg.so.1"), Path.of("/etc/hostname"));
    file("usr/bin/nvidia-smi");
    for (String node :
        List.of("nvidiactl", "nvidia-uvm", "nvidia0", "nvidia1", "nvidia-caps/nvidia-cap12")) {
      file("dev/" + node);
    }
    file("dev/nvidia-caps/nvidia-cap13");
    Files.createDirectories(root.resolve("proc/driver/nvidia-caps"));
    Files.writeString(
        root.resolve("proc/driver/nvidia-caps/mig-minors"),
        "config 1\nmonitor 2\ngpu1/gi3/access 12\ngpu1/gi3/ci0/access 13\ngpu0/gi3/access 99\n");
    specs = specs();
  }

  private void file(String path) throws IOException {
    Path file = root.resolve(path);
    Files.createDirectories(file.getParent());
    Files.createFile(file);
  }

  private CdiSpecs specs() {
    return new CdiSpecs(
        new CdiSpecs.Places(
            dir.resolve("cdi"), root, root, dir.resolve("tools"), Path.of("/host/tools")),
        nodes());
  }

  private DeviceNodes nodes() {
    return new DeviceNodes(root, Files::exists, MigMinors.read(root, dir));
  }

  private static PhysicalGpu card(int index, boolean mig) {
    return new PhysicalGpu(
        index,
        index,
        new GpuUuid("GPU-0000000" + index),
        "NVIDIA A100",
        40L << 30,
        "0000:01:00.0",
        0,
        8.0f,
        108,
        mig,
        mig ? List.of(new MigDevice(new GpuUuid(SLICE), "1g.5gb", 3, 0, 14, 4864)) : List.of());
  }

  private JsonNode written(String deviceClass) throws IOException {
    Path file = dir.resolve("cdi/k8s.device-plugin.nvidia.com-" + deviceClass + ".json");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-r--r--");
    return JsonMapper.shared().readTree(Files.readString(file));
  }

  private static List<String> texts(JsonNode list, String key) {
    List<String> texts = new ArrayList<>();
    list.forEach(n -> texts.add(key.isEmpty() ? n.asString() : n.path(key).asString()));
    return texts;
  }

  /** The rules of the interface's schema for what is used of it. */
  private static void checkSchema(JsonNode spec) {
    assertThat(spec.path("cdiVersion").asString()).isEqualTo("0.5.0");
    assertThat(spec.path("kind").asString())
        .matches("[a-zA-Z][a-zA-Z0-9_.-]*[a-zA-Z0-9]/[a-zA-Z][a-zA-Z0-9_-]*[a-zA-Z0-9]");
    assertThat(spec.propertyNames()).isSubsetOf("cdiVersion", "kind", "devices", "containerEdits");
    assertThat(spec.path("devices")).isNotEmpty();
    for (JsonNode device : spec.path("devices")) {
      assertThat(device.path("name").asString()).matches(DEVICE_NAME);
      assertThat(device.path("containerEdits").path("deviceNodes")).isNotEmpty();
    }
    for (JsonNode mount : spec.path("containerEdits").path("mounts")) {
      assertThat(mount.propertyNames())
          .containsExactlyInAnyOrder("hostPath", "containerPath", "options");
    }
  }

  @Test
  void cardsAndSlicesAreNamedByTheirUuid() throws IOException {
    Set<String> classes =
        specs.write(
            List.of(card(0, false), card(1, true)), true, ImexChannels.NONE, Set.of(), false);

    assertThat(classes).containsExactly("gpu");
    JsonNode spec = written("gpu");
    checkSchema(spec);
    assertThat(spec.path("kind").asString()).isEqualTo("k8s.device-plugin.nvidia.com/gpu");
    assertThat(texts(spec.path("devices"), "name")).containsExactly("GPU-00000000", SLICE);
    assertThat(
            texts(spec.path("devices").get(1).path("containerEdits").path("deviceNodes"), "path"))
        .containsExactly(
            "/dev/nvidia1", "/dev/nvidia-caps/nvidia-cap12", "/dev/nvidia-caps/nvidia-cap13");
    JsonNode common = spec.path("containerEdits");
    assertThat(texts(common.path("deviceNodes"), "path"))
        .containsExactly("/dev/nvidiactl", "/dev/nvidia-uvm");
    assertThat(texts(common.path("deviceNodes"), "hostPath"))
        .containsExactly(root + "/dev/nvidiactl", root + "/dev/nvidia-uvm");
    assertThat(texts(common.path("mounts"), "containerPath"))
        .as("each name of each library inside the root, and no other's")
        .containsExactly(
            "/usr/lib64/libcuda.so.1",
            "/usr/lib64/libcuda.so.570.1",
            "/usr/lib64/libnvidia-ml.so.1",
            "/usr/bin/nvidia-smi");
    assertThat(texts(common.path("mounts"), "hostPath").getFirst())
        .isEqualTo(root + "/usr/lib64/libcuda.so.570.1");
    assertThat(common.has("env")).isFalse();
    assertThat(common.has("hooks")).isFalse();
    assertThat(dir.resolve("cdi")).isDirectoryNotContaining("glob:**.tmp");
  }

  @Test
  void withoutMigSlicesAreNoDevices() throws IOException {
    specs.write(List.of(card(0, false), card(1, true)), false, ImexChannels.NONE, Set.of(), false);
    assertThat(texts(written("gpu").path("devices"), "name")).containsExactly("GPU-00000000");
  }

  @Test
  void whereAllIsCdiTheSpecItselfStopsOlderRuntimes_13_41() throws IOException {
    specs.write(List.of(card(0, false)), true, ImexChannels.NONE, Set.of(), true);
    assertThat(texts(written("gpu").path("containerEdits").path("env"), ""))
        .containsExactly("NVIDIA_VISIBLE_DEVICES=void");
  }

  @Test
  void theLinkersCacheIsMadeWhereTheHookIsInstalled() throws IOException {
    Path hook = Files.createDirectories(dir.resolve("tools")).resolve("nvidia-cdi-hook");
    Files.createFile(
        hook, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
    specs.write(List.of(card(0, false)), true, ImexChannels.NONE, Set.of(), false);
    JsonNode made = written("gpu").path("containerEdits").path("hooks").get(0);
    assertThat(made.path("hookName").asString()).isEqualTo("createContainer");
    assertThat(made.path("path").asString()).isEqualTo("/host/tools/nvidia-cdi-hook");
    assertThat(texts(made.path("args"), ""))
        .containsExactly("nvidia-cdi-hook", "update-ldcache", "--folder", "/usr/lib64");
  }

  @Test
  void anExtraModeThatTheNodeLacksHasNoSpec() throws IOException {
    file("dev/gdrdrv");
    file("dev/infiniband/uverbs1");
    file("dev/infiniband/uverbs0");
    file("dev/infiniband/rdma_cm");
    Files.createDirectories(dir.resolve("cdi"));
    Files.writeString(
        dir.resolve("cdi/k8s.device-plugin.nvidia.com-gds.json"), "of an earlier run");

    Set<String> classes =
        specs.write(
            List.of(card(0, false)),
            true,
            ImexChannels.NONE,
            EnumSet.allOf(ExtraMode.class),
            false);

    assertThat(classes).containsExactly("gdrcopy", "gpu", "mofed");
    assertThat(dir.resolve("cdi/k8s.device-plugin.nvidia.com-gds.json")).doesNotExist();
    checkSchema(written("mofed"));
    assertThat(
            texts(
                written("mofed").path("devices").get(0).path("containerEdits").path("deviceNodes"),
                "path"))
        .containsExactly(
            "/dev/infiniband/uverbs0", "/dev/infiniband/uverbs1", "/dev/infiniband/rdma_cm");
  }

  @Test
  void imexChannelsAreDevicesOfTheirOwnClass() throws IOException {
    Path channels = Files.createDirectories(root.resolve("dev/nvidia-caps-imex-channels"));
    Files.createSymbolicLink(channels.resolve("channel0"), Path.of("/dev/null"));
    specs.write(
        List.of(card(0, false)),
        true,
        ImexChannels.find(List.of(0), true, nodes()),
        Set.of(),
        false);
    checkSchema(written("imex-channel"));
    assertThat(texts(written("imex-channel").path("devices"), "name")).containsExactly("0");
  }
}
