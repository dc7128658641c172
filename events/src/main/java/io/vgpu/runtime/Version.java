package io.vgpu.runtime;

import java.util.Locale;
import picocli.CommandLine.IVersionProvider;

/** The release's version, from the manifest of the jar; "development" when run from classes. */
public final class Version implements IVersionProvider {
  /** The version text. */
  public static String current() {
    String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }

  /** What it runs on, as images name it, e.g. {@code linux/amd64}. */
  public static String platform() {
    return System.getProperty("os.name", "").toLowerCase(Locale.ROOT)
        + "/"
        + System.getProperty("os.arch", "").replace("x86_64", "amd64").replace("aarch64", "arm64");
  }

  @Override
  public String[] getVersion() {
    return new String[] {"${COMMAND-FULL-NAME} " + current()};
  }
}
