package io.vgpu.runtime;

/** Sets the log's form and level before the first logger exists; called first by every main. */
public final class Logging {
  private Logging() {}

  /** {@code verbosity} as klog's {@code --v}: 0 to 3 info, 4 and 5 debug, above that trace. */
  public static void configure(int verbosity) {
    set("showDateTime", "true");
    set("dateTimeFormat", "yyyy-MM-dd'T'HH:mm:ss.SSSXXX");
    set("showShortLogName", "true");
    set("levelInBrackets", "false");
    set("defaultLogLevel", verbosity >= 6 ? "trace" : verbosity >= 4 ? "debug" : "info");
    set("log.io.fabric8", verbosity >= 6 ? "debug" : "warn");
    set("log.io.netty", verbosity >= 6 ? "debug" : "warn");
    // gRPC sets a TCP option on unix sockets too, and Netty says so for each connection
    set("log.io.netty.bootstrap", "error");
    set("log.io.grpc", verbosity >= 6 ? "debug" : "warn");
  }

  private static void set(String key, String value) {
    String property = "org.slf4j.simpleLogger." + key;
    if (System.getProperty(property) == null) {
      System.setProperty(property, value);
    }
  }
}
