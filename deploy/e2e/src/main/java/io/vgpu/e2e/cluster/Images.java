package io.vgpu.e2e.cluster;

import io.vgpu.e2e.cluster.ClusterConfig.ImageFile;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The images that pods of the cluster use, made from this machine's own files: nothing is pulled.
 * The example image holds a glibc, because libraries preloaded into it must find one.
 */
public final class Images {
  public static final String PAUSE = "localhost/pause:1";
  public static final String BUSYBOX = "localhost/busybox:1";

  /** glibc with bash, coreutils and a few more; what every container of the tests runs. */
  public static final String EXAMPLE = "localhost/vgpu-example:1";

  private static final List<String> EXAMPLE_COMMANDS =
      List.of(
          "bash",
          "basename",
          "cat",
          "chmod",
          "cp",
          "cut",
          "date",
          "dd",
          "dirname",
          "echo",
          "env",
          "expr",
          "false",
          "find",
          "grep",
          "head",
          "id",
          "kill",
          "ln",
          "ls",
          "mkdir",
          "mkfifo",
          "mknod",
          "mv",
          "od",
          "printenv",
          "printf",
          "pwd",
          "readlink",
          "rm",
          "rmdir",
          "sed",
          "seq",
          "sha256sum",
          "sleep",
          "sort",
          "stat",
          "tail",
          "tee",
          "test",
          "timeout",
          "touch",
          "tr",
          "true",
          "uname",
          "uniq",
          "wc",
          "xargs");

  /** Libraries that a preloaded library may want although no command of the image does. */
  private static final List<String> EXAMPLE_LIBRARIES =
      List.of(
          "libdl.so.2",
          "libpthread.so.0",
          "librt.so.1",
          "libm.so.6",
          "libgcc_s.so.1",
          "libstdc++.so.6");

  private static final List<Path> COMMAND_FOLDERS =
      Stream.of("/usr/bin", "/bin", "/usr/sbin", "/sbin").map(Path::of).toList();

  private Images() {}

  /** Writes all image archives into the folder and returns them. */
  public static List<Path> writeAll(Path folder, List<ImageFile> exampleFiles) {
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot create " + folder, e);
    }
    return List.of(pause(folder), busybox(folder), example(folder, exampleFiles));
  }

  private static Path pause(Path folder) {
    Path source = folder.resolve("pause.c");
    Path binary = folder.resolve("pause");
    try (InputStream resource = Images.class.getResourceAsStream("pause.c")) {
      if (resource == null) {
        throw new IllegalStateException("pause.c is missing beside " + Images.class);
      }
      Files.write(source, resource.readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write " + source, e);
    }
    Commands.must("gcc", "-Os", "-static", "-s", "-o", binary.toString(), source.toString());
    Path archive = folder.resolve("pause.tar");
    new OciImage(PAUSE).file("/pause", binary).command("/pause").write(archive);
    return archive;
  }

  private static Path busybox(Path folder) {
    Path binary = find("busybox");
    OciImage image = new OciImage(BUSYBOX).file("/bin/busybox", binary).folder("/tmp", 01777);
    for (String applet : Commands.must(binary.toString(), "--list").lines().toList()) {
      if (!applet.equals("busybox")) {
        image.link("/bin/" + applet, "busybox");
      }
    }
    Path archive = folder.resolve("busybox.tar");
    image.command("/bin/sh").write(archive);
    return archive;
  }

  private static Path example(Path folder, List<ImageFile> extra) {
    OciImage image =
        new OciImage(EXAMPLE)
            .folder("/tmp", 01777)
            .link("/bin", "usr/bin")
            .link("/usr/bin/sh", "bash")
            .file("/etc/passwd", 0644, bytes("root:x:0:0:root:/:/bin/bash\n"))
            .file("/etc/group", 0644, bytes("root:x:0:\n"));
    List<Path> binaries = new ArrayList<>();
    for (String command : EXAMPLE_COMMANDS) {
      Path binary = find(command);
      image.file("/usr/bin/" + command, binary);
      binaries.add(binary);
    }
    for (ImageFile file : extra) {
      image.file(file.target(), file.source());
      binaries.add(file.source());
    }
    TreeSet<String> libraries = new TreeSet<>(librariesOf(binaries));
    libraries.addAll(beside(libraries));
    libraries.forEach(library -> image.file(library, Path.of(library)));
    Path archive = folder.resolve("vgpu-example.tar");
    image.command("/bin/bash").write(archive);
    return archive;
  }

  /**
   * Paths of the libraries, loader included, that the loader would open for the files. A static one
   * or a script among them makes ldd end with 1, which is no failure.
   */
  private static List<String> librariesOf(List<Path> files) {
    List<String> command = new ArrayList<>(List.of("ldd"));
    files.forEach(file -> command.add(file.toString()));
    return parseLdd(Commands.run(command).output());
  }

  static List<String> parseLdd(String output) {
    List<String> paths = new ArrayList<>();
    for (String line : output.lines().toList()) {
      int arrow = line.indexOf("=> ");
      String right = (arrow < 0 ? line : line.substring(arrow + 3)).strip();
      int address =
          right.indexOf(" (0x"); // headers that name the file, and 'statically linked', have none
      if (right.startsWith("/") && address > 0) {
        paths.add(right.substring(0, address));
      }
    }
    return paths;
  }

  private static List<String> beside(TreeSet<String> libraries) {
    Path libc =
        libraries.stream()
            .map(Path::of)
            .filter(p -> p.getFileName().toString().equals("libc.so.6"))
            .findFirst()
            .orElseThrow(() -> new ClusterException("bash of this machine uses no glibc"));
    return EXAMPLE_LIBRARIES.stream()
        .map(libc::resolveSibling)
        .filter(Files::exists)
        .map(Path::toString)
        .toList();
  }

  private static Path find(String command) {
    Optional<Path> found =
        COMMAND_FOLDERS.stream()
            .map(f -> f.resolve(command))
            .filter(Files::isExecutable)
            .findFirst();
    return found.orElseThrow(
        () -> new ClusterException("this machine has no command " + command + " for the images"));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
