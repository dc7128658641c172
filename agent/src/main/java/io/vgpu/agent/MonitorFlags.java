package io.vgpu.agent;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Flags of the monitor (node-agent.md 3.3). */
final class MonitorFlags {
  @Option(
      names = "--enable-rbac",
      arity = "0..1",
      fallbackValue = "true",
      description = "only the default is supported in this release")
  boolean enableRbac;

  @Option(
      names = "--enable-tls",
      arity = "0..1",
      fallbackValue = "true",
      description = "only the default is supported in this release")
  boolean enableTls;

  @Option(names = "--tls-key-file", description = "only the default is supported in this release")
  @Nullable String tlsKeyFile;

  @Option(names = "--tls-cert-file", description = "only the default is supported in this release")
  @Nullable String tlsCertFile;

  @Option(
      names = "--cert-refresh-interval",
      description = "only the default is supported in this release")
  Duration certRefreshInterval = Duration.ofSeconds(5);

  @Option(
      names = "--min-scrape-interval",
      description = "only the default is supported in this release: a scrape asks no driver")
  Duration minScrapeInterval = Duration.ofSeconds(1);

  @Option(
      names = "--stuck-grace-period",
      description = "only the default is supported in this release")
  Duration stuckGracePeriod = Duration.ofSeconds(30);

  @Option(
      names = "--enable-dra-monitor",
      arity = "0..1",
      fallbackValue = "true",
      description = "only the default is supported in this release")
  boolean enableDraMonitor;
}
