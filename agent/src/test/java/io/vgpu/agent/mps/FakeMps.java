package io.vgpu.agent.mps;

import io.vgpu.agent.testing.Built;
import io.vgpu.model.GpuUuid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The fake {@code nvidia-cuda-mps-control} with folders of its own, and what a test does to it. */
final class FakeMps implements AutoCloseable {
  static final GpuUuid CARD = new GpuUuid("GPU-00000000-0000-0000-0000-000000000001");
  final Path usageDir;
  final MpsFolders folders;

  FakeMps(Path usageDir) throws IOException {
    this(usageDir, CARD);
  }

  FakeMps(Path usageDir, GpuUuid card) throws IOException {
    this.usageDir = usageDir;
    this.folders = MpsFolders.below(usageDir, card);
    Files.createDirectories(folders.log());
  }

  /** Without mounts, which need rights. */
  static List<String> words(MpsFolders folders, List<String> arguments) {
    List<String> words =
        new ArrayList<>(
            List.of(Built.shimSource("test/fake/mps/nvidia-cuda-mps-control").toString()));
    words.addAll(arguments);
    return words;
  }

  static void noMount(Path folder, long bytes) {
    // the folder itself will do
  }

  /** A wrong that it is to do: refuse, mute, hang. */
  void does(String wrong) throws IOException {
    Files.writeString(folders.log().resolve(wrong), "");
  }

  void doesNot(String wrong) throws IOException {
    Files.delete(folders.log().resolve(wrong));
  }

  /** UUIDs of the cards with which it was started, one for each time. */
  List<String> started() throws IOException {
    try {
      return Files.readAllLines(folders.log().resolve("started"));
    } catch (NoSuchFileException none) {
      return List.of();
    }
  }

  long pid() throws IOException {
    return Long.parseLong(Files.readString(folders.pid()).strip());
  }

  boolean lives() {
    try {
      return ProcessHandle.of(pid()).map(ProcessHandle::isAlive).orElse(false);
    } catch (IOException none) {
      return false;
    }
  }

  /** As a crash would. */
  void kill() throws IOException {
    ProcessHandle process = ProcessHandle.of(pid()).orElseThrow();
    process.destroyForcibly();
    process.onExit().join();
  }

  @Override
  public void close() throws IOException {
    if (lives()) {
      ProcessHandle.of(pid()).ifPresent(ProcessHandle::destroyForcibly);
    }
  }
}
