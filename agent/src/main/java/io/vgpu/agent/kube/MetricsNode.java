package io.vgpu.agent.kube;

import io.vgpu.claim.Names;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The {@code metrics-node} mark of a pod: the node's name, or, where that is longer than a label
 * may be, a hash of it with the name in an annotation (D19).
 */
public final class MetricsNode {
  private static final int MAX_LABEL = 63;

  private MetricsNode() {}

  /** The label's value for a node. */
  public static String label(String node) {
    if (node.length() <= MAX_LABEL) {
      return node;
    }
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest(node.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(hash, 0, 16);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  /** The annotations that go with the label: none for a name that fits. */
  public static Map<String, @Nullable String> annotations(String node, Names names) {
    return node.length() <= MAX_LABEL ? Map.of() : Map.of(names.metricsNode(), node);
  }
}
