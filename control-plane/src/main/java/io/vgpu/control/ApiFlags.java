package io.vgpu.control;

import io.vgpu.claim.Names;
import io.vgpu.runtime.UsageException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The flags of every command that speaks with the Kubernetes API. */
public final class ApiFlags {
  @Option(
      names = "--kubeconfig",
      paramLabel = "FILE",
      description = "how to reach the API server; none: as a pod in the cluster")
  @Nullable Path kubeconfig;

  @Option(
      names = "--master",
      paramLabel = "URL",
      description = "address of the API server, instead of the kubeconfig's")
  @Nullable String master;

  @Option(
      names = "--domain",
      defaultValue = Names.DEFAULT_DOMAIN,
      description = "prefix of our resources, annotations and labels")
  String domain = Names.DEFAULT_DOMAIN;

  /** The file to connect with, if any. */
  public @Nullable Path kubeconfig() {
    return kubeconfig;
  }

  /** The address to connect to instead of the file's, if any. */
  public @Nullable String master() {
    return master;
  }

  /** Our keys under the chosen domain; one that cannot be is a {@link UsageException}. */
  public Names names() {
    try {
      return new Names(domain);
    } catch (IllegalArgumentException e) {
      throw new UsageException("--domain: " + e.getMessage());
    }
  }
}
