package io.vgpu.e2e.scale;

import io.vgpu.e2e.cluster.ClusterException;
import io.vgpu.e2e.product.Checkout;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A kube-scheduler configuration made of the files that are shipped, so that they are what is
 * measured and tested.
 *
 * @param extender whether pods with cards are asked about ({@code kube-scheduler.yaml}); without,
 *     it is kube-scheduler alone under the same name
 * @param steering whether pods without cards are (the entry of the README)
 * @param qps of kube-scheduler's own client, twice that in a burst; 50 is its default
 */
public record SchedulerVariant(boolean extender, boolean steering, int qps) {
  /** kube-scheduler's own default, with a burst of 100. */
  public static final int DEFAULT_QPS = 50;

  private static final Pattern CONNECTION = Pattern.compile("(?m)^clientConnection: .*$");
  private static final Pattern STEER =
      Pattern.compile("### Pods without cards\\n.*?```yaml\\n(- urlPrefix.*?)```", Pattern.DOTALL);

  /** The configuration, for the kubeconfig. */
  String render(Checkout checkout, Path kubeconfig) {
    String shipped = read(checkout.manifest("kube-scheduler.yaml"));
    int extenders = shipped.indexOf("\nextenders:\n") + 1;
    if (extenders == 0) {
      throw new ClusterException("kube-scheduler.yaml names no extenders");
    }
    StringBuilder text = new StringBuilder(shipped.substring(0, extenders));
    if (extender || steering) {
      text.append("extenders:\n");
    }
    if (extender) {
      text.append(shipped.substring(extenders + "extenders:\n".length()).stripTrailing())
          .append('\n');
    }
    if (steering) {
      text.append(steerEntry(read(checkout.manifest("README.md"))));
    }
    return CONNECTION
        .matcher(text)
        .replaceFirst(
            Matcher.quoteReplacement(
                "clientConnection: {kubeconfig: \"%s\", qps: %d, burst: %d}"
                    .formatted(kubeconfig, qps, 2 * qps)));
  }

  private static String steerEntry(String readme) {
    Matcher entry = STEER.matcher(readme);
    if (!entry.find()) {
      throw new ClusterException("README.md has no extender for pods without cards");
    }
    return entry.group(1);
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file, e);
    }
  }
}
