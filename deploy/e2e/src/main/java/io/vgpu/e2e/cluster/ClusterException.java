package io.vgpu.e2e.cluster;

/** The cluster could not do what was asked; the message says what, and where to look. */
public final class ClusterException extends RuntimeException {
  public ClusterException(String message) {
    super(message);
  }

  public ClusterException(String message, Throwable cause) {
    super(message, cause);
  }
}
