package io.vgpu.runtime;

import picocli.CommandLine.IVersionProvider;

/** The release's version, from the manifest of the jar; "development" when run from classes. */
public final class Version implements IVersionProvider {
  /** The version text. */
  public static String current() {
    String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }

  @Override
  public String[] getVersion() {
    return new String[] {"${COMMAND-FULL-NAME} " + current()};
  }
}
