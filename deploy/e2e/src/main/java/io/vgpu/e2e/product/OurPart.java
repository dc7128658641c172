package io.vgpu.e2e.product;

/** A process of ours: its name in logs, the service account it speaks with, its health port. */
public enum OurPart {
  EXTENDER("scheduler-extender", "vgpu-manager-scheduler", 3457),
  WEBHOOK("webhook", "vgpu-manager-webhook", 9443),
  CONTROLLER("controller", "vgpu-manager-controller", 3460),
  AGENT("agent", "vgpu-manager-agent", 3458);

  /** Where our service accounts live. */
  public static final String NAMESPACE = "kube-system";

  private final String process;
  private final String account;
  private final int opsPort;

  OurPart(String process, String account, int opsPort) {
    this.process = process;
    this.account = account;
    this.opsPort = opsPort;
  }

  /** The process's name: its log is {@code NAME.log}. */
  public String process() {
    return process;
  }

  /** The service account's name. */
  public String account() {
    return account;
  }

  /** The user name that the API server's audit log shows. */
  public String user() {
    return "system:serviceaccount:" + NAMESPACE + ":" + account;
  }

  /** The port of {@code /readyz}. */
  public int opsPort() {
    return opsPort;
  }
}
