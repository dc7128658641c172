package io.vgpu.agent;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Flags of the monitor (node-agent.md 3.3). */
final class MonitorFlags {
  @Option(
      names = "--enable-rbac",
      arity = "0..1",
      fallbackValue = "true",
      description =
          "only who may get /metrics by the API server's word can scrape (TokenReview and SubjectAccessReview; answers are kept for a minute)")
  boolean enableRbac;

  @Option(
      names = "--enable-tls",
      arity = "0..1",
      fallbackValue = "true",
      description = "serve /healthz, /readyz and /metrics on TLS")
  boolean enableTls;

  @Option(
      names = "--tls-key-file",
      paramLabel = "FILE",
      description = "key of the certificate, PEM")
  @Nullable Path tlsKeyFile;

  @Option(names = "--tls-cert-file", paramLabel = "FILE", description = "certificate chain, PEM")
  @Nullable Path tlsCertFile;

  @Option(
      names = "--cert-refresh-interval",
      description = "how often the two files are looked at; a new pair is served without a restart")
  Duration certRefreshInterval = Duration.ofSeconds(5);

  @Option(
      names = "--min-scrape-interval",
      description =
          "a scrape sooner than this after another gets the same text again, with X-Rate-Limited: true")
  Duration minScrapeInterval = Duration.ofSeconds(1);

  @Option(
      names = "--stuck-grace-period",
      description =
          "at least 1s; has no effect, since only bound pods are counted and none can be stuck before that")
  Duration stuckGracePeriod = Duration.ofSeconds(30);

  @Option(
      names = "--enable-dra-monitor",
      arity = "0..1",
      fallbackValue = "true",
      description = "only the default is supported in this release")
  boolean enableDraMonitor;
}
