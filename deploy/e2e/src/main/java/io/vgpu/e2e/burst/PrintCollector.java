package io.vgpu.e2e.burst;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/**
 * Keeps what containers print: reads the node's pod log folder ({@code
 * NAMESPACE_POD_UID/CONTAINER/N.log}) at each {@link #scan}. A file is held open from its first
 * sight until its print is whole, so that nothing is lost when the kubelet deletes it. Safe for
 * several threads.
 */
final class PrintCollector implements AutoCloseable {
  private static final String END = "### end";

  private final Path folder;
  private final String namespace;
  private final LongSupplier elapsedMs;
  private final Set<Path> ofOthers;
  private final Map<Path, Tracked> files = new TreeMap<>();

  /** What lies in the folder already is of pods that are no more: the kubelet keeps their logs. */
  PrintCollector(Path podLogs, String namespace, LongSupplier elapsedMs) {
    this.folder = podLogs;
    this.namespace = namespace;
    this.elapsedMs = elapsedMs;
    try {
      this.ofOthers = Set.copyOf(entries(podLogs, namespace + "_*"));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot list " + podLogs, e);
    }
  }

  private static final class Tracked {
    private final String uid;
    private final String pod;
    private final String container;
    private final int run;
    private final long seenAtMs;
    private final StringBuilder log = new StringBuilder();
    private Optional<FileChannel> channel;

    Tracked(String uid, String pod, String container, int run, long seenAtMs, FileChannel channel) {
      this.uid = uid;
      this.pod = pod;
      this.container = container;
      this.run = run;
      this.seenAtMs = seenAtMs;
      this.channel = Optional.of(channel);
    }
  }

  /** Finds new files and reads what was added to the known ones. */
  synchronized void scan() {
    try {
      List<Path> pods = entries(folder, namespace + "_*");
      pods.removeAll(ofOthers);
      for (Path pod : pods) {
        for (Path container : entries(pod, "*")) {
          for (Path file : entries(container, "*.log")) {
            if (!files.containsKey(file)) {
              open(pod, container, file);
            }
          }
        }
      }
      for (Tracked file : files.values()) {
        read(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read pod logs below " + folder, e);
    }
  }

  private static List<Path> entries(Path folder, String glob) throws IOException {
    List<Path> entries = new ArrayList<>();
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(folder, glob)) {
      stream.forEach(entries::add);
    } catch (NoSuchFileException | NotDirectoryException e) {
      entries.clear(); // the kubelet has just removed it
    }
    return entries;
  }

  private void open(Path pod, Path container, Path file) throws IOException {
    String[] parts = name(pod).split("_", 3);
    String run = name(file).replaceFirst("\\.log$", "");
    if (parts.length != 3 || !run.matches("\\d{1,6}")) {
      return;
    }
    FileChannel channel;
    try {
      channel = FileChannel.open(file, StandardOpenOption.READ);
    } catch (NoSuchFileException e) {
      return; // gone since it was listed: it was never held, so its content is unknown
    }
    files.put(
        file,
        new Tracked(
            parts[2],
            parts[1],
            name(container),
            Integer.parseInt(run),
            elapsedMs.getAsLong(),
            channel));
  }

  private static String name(Path path) {
    return String.valueOf(path.getFileName());
  }

  private static void read(Tracked file) throws IOException {
    if (file.channel.isEmpty()) {
      return;
    }
    FileChannel channel = file.channel.get();
    ByteBuffer bytes =
        ByteBuffer.allocate(Math.toIntExact(Math.max(0, channel.size() - channel.position())));
    while (bytes.hasRemaining() && channel.read(bytes) >= 0) {
      continue;
    }
    bytes.flip();
    // what containers print is ASCII, so no character is cut in two
    file.log.append(StandardCharsets.UTF_8.decode(bytes));
    if (file.log.indexOf(END + "\n") >= 0) {
      channel.close();
      file.channel = Optional.empty();
    }
  }

  /** Everything that was printed up to the last scan, whole prints and partial ones. */
  synchronized List<Print> prints() {
    return files.values().stream()
        .map(
            f ->
                new Print(
                    f.uid, f.pod, f.container, f.run, f.seenAtMs, CriLog.text(f.log.toString())))
        .toList();
  }

  @Override
  public synchronized void close() {
    try {
      for (Tracked file : files.values()) {
        if (file.channel.isPresent()) {
          file.channel.get().close();
          file.channel = Optional.empty();
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot close pod logs below " + folder, e);
    }
  }
}
