package io.vgpu.e2e.product;

import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.ClusterException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The fake cards' own ledger, read by a process outside every container: what ran on them and what
 * was taken of them, whatever a container's library says.
 */
public final class FakeCards {
  private final Cluster cluster;
  private final Checkout checkout;

  public FakeCards(Cluster cluster, Checkout checkout) {
    this.cluster = cluster;
    this.checkout = checkout;
  }

  /**
   * One card.
   *
   * @param busyNs time in which it ran kernels
   * @param peakBytes the most that living processes ever had of it
   */
  public record Card(int index, long usedBytes, long peakBytes, long busyNs) {}

  /** The card with this index, now. */
  public Card card(int index) {
    for (String line : print("cards")) {
      String[] f = line.split(" ", -1);
      if (f[0].equals(Integer.toString(index))) {
        return new Card(index, Long.parseLong(f[3]), Long.parseLong(f[4]), Long.parseLong(f[5]));
      }
    }
    throw new ClusterException("the fake driver has no card " + index);
  }

  private List<String> print(String what) {
    List<String> command =
        List.of(
            checkout.shim("fake-gpu").toString(),
            "--state",
            FakeNode.stateOf(cluster).toString(),
            what);
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0) {
        throw new ClusterException(String.join(" ", command) + ": " + text.strip());
      }
      List<String> lines = new ArrayList<>(text.lines().toList());
      lines.removeFirst(); // names of the columns
      return lines;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot run " + String.join(" ", command), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ClusterException("interrupted while reading the fake cards", e);
    }
  }
}
