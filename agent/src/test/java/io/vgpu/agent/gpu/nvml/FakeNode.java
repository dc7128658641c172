package io.vgpu.agent.gpu.nvml;

import io.vgpu.agent.gpu.PhysicalGpu;
import io.vgpu.agent.testing.Built;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;

/**
 * A copy of the fake library with a profile beside it: a node of its own, whatever other tests have
 * loaded.
 */
final class FakeNode {
  static final Duration LONG = Duration.ofSeconds(60);

  private final Path directory;

  private FakeNode(Path directory) {
    this.directory = directory;
  }

  static FakeNode of(Path directory, String profile) throws IOException {
    Files.createDirectories(directory);
    Files.copy(Built.shim("fake/libnvidia-ml.so.1"), directory.resolve(DriverRoot.LIBRARY));
    Files.writeString(directory.resolve("fake.gpus"), profile);
    return new FakeNode(directory);
  }

  static FakeNode ofProfile(Path directory, String name) throws IOException {
    return of(directory, Files.readString(Built.profile(name)));
  }

  NvmlGpuDriver open() {
    return open(List.of(), LONG);
  }

  NvmlGpuDriver open(List<PhysicalGpu> remembered, Duration limit) {
    // an empty sysfs: the machine that runs the test may have cards at the same addresses
    return NvmlGpuDriver.open(
        directory, directory.resolve("no-sysfs"), System::nanoTime, remembered, limit);
  }

  /** Appends a line to the control file. */
  void tell(String line) throws IOException {
    Files.writeString(
        directory.resolve("fake.gpus.control"),
        line + "\n",
        StandardOpenOption.CREATE,
        StandardOpenOption.APPEND);
  }
}
