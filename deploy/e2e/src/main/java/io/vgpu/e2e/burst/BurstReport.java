package io.vgpu.e2e.burst;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The verdict on one burst. */
public final class BurstReport {
  private static final int STORIES_SHOWN = 3;

  private final long seed;
  private final long settledMs;
  private final List<String> facts;
  private final List<Finding> findings;
  private final Story story;

  BurstReport(long seed, long settledMs, List<String> facts, List<Finding> findings, Story story) {
    this.seed = seed;
    this.settledMs = settledMs;
    this.facts = List.copyOf(facts);
    this.findings = List.copyOf(findings);
    this.story = story;
  }

  BurstReport settledIn(long ms) {
    return new BurstReport(seed, ms, facts, findings, story);
  }

  public boolean pass() {
    return findings.isEmpty();
  }

  public long seed() {
    return seed;
  }

  /** Every broken promise, as a sentence. */
  public List<String> findings() {
    return findings.stream().map(Finding::toString).toList();
  }

  /** In one line. */
  public String line() {
    return String.format(
        Locale.ROOT,
        "burst seed %d: %s after %.0f s",
        seed,
        pass() ? "PASS" : "FAIL (" + findings.size() + " findings)",
        settledMs / 1e3);
  }

  /** Prints facts, findings and the first pods' stories. */
  public void print(PrintStream out) {
    facts.forEach(f -> out.println("  " + f));
    findings.forEach(f -> out.println("  ! " + f));
    uids().stream()
        .limit(STORIES_SHOWN)
        .forEach(uid -> story.of(uid).forEach(l -> out.println("    " + l)));
    out.println(line());
  }

  /** Keeps everything that explains a failure: findings, all stories, and the cluster's logs. */
  public void keep(Path folder, Path logs) {
    List<String> lines = new ArrayList<>(facts);
    findings.forEach(f -> lines.add("! " + f));
    uids().forEach(uid -> lines.addAll(story.of(uid)));
    try {
      Files.createDirectories(folder);
      Files.write(folder.resolve("report.txt"), lines);
      copy(logs, folder.resolve("log"));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot keep the burst's logs in " + folder, e);
    }
  }

  private List<String> uids() {
    return findings.stream().map(Finding::uid).flatMap(Optional::stream).distinct().toList();
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.walkFileTree(
        from,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Path target = to.resolve(from.relativize(file));
            Files.createDirectories(target.getParent());
            Files.copy(file, target, StandardCopyOption.REPLACE_EXISTING);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException e) {
            return FileVisitResult.CONTINUE; // a pod's log that the kubelet has just removed
          }
        });
  }
}
