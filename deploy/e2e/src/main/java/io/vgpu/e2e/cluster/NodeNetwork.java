package io.vgpu.e2e.cluster;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The cluster's own network namespace. A bridge carries the node's address (loopback cannot be a
 * node's address, and not every kernel has dummy devices); one veth pair joins it with this
 * machine, so that tests reach apiserver, kubelet and our processes. Nothing gets out: this machine
 * forwards nothing for it (no route, no NAT), and the namespace's default route, which only has to
 * exist, names a gateway that nobody is.
 */
final class NodeNetwork {
  private static final String BRIDGE = "kbr0";
  static final String POD_CIDR = "10.244.0.0/16";
  static final String SERVICE_CIDR = "10.96.0.0/24";
  static final String API_SERVICE_IP = "10.96.0.1";

  private final String netns;
  private final String nodeIp;
  private final String hostIp;

  NodeNetwork(ClusterConfig config) {
    this.netns = config.netns();
    this.nodeIp = config.nodeIp();
    this.hostIp = config.hostIp();
  }

  void up() {
    String host = hostInterface(netns);
    String node = netns + "-node";
    Commands.must("ip", "netns", "add", netns);
    Commands.must("ip", "-n", netns, "link", "set", "lo", "up");
    Commands.must("ip", "-n", netns, "link", "add", BRIDGE, "type", "bridge");
    Commands.must("ip", "-n", netns, "addr", "add", nodeIp + "/24", "dev", BRIDGE);
    Commands.must("ip", "link", "add", host, "type", "veth", "peer", "name", node, "netns", netns);
    Commands.must("ip", "-n", netns, "link", "set", node, "master", BRIDGE, "up");
    Commands.must("ip", "-n", netns, "link", "set", BRIDGE, "up");
    Commands.must("ip", "addr", "add", hostIp + "/24", "dev", host);
    Commands.must("ip", "link", "set", host, "up");
    Commands.must(
        "ip", "-n", netns, "route", "replace", "default", "via", "10.77.0.254", "dev", BRIDGE);
    inside("sysctl", "-qw", "net.ipv4.ip_forward=1");
    // pods and processes find the API under its service address; no other service needs a proxy
    // here
    for (String chain : List.of("PREROUTING", "OUTPUT")) {
      inside(
          "iptables",
          "-w",
          "-t",
          "nat",
          "-A",
          chain,
          "-d",
          API_SERVICE_IP,
          "-p",
          "tcp",
          "--dport",
          "443",
          "-j",
          "DNAT",
          "--to",
          nodeIp + ":6443");
    }
  }

  /** Removes the namespace and the veth pair; nothing happens where they are gone already. */
  static void down(String netns) {
    if (Files.exists(Path.of("/sys/class/net", hostInterface(netns)))) {
      Commands.must("ip", "link", "del", hostInterface(netns));
    }
    if (Files.exists(Path.of("/run/netns", netns))) {
      Commands.must("ip", "netns", "del", netns);
    }
  }

  static String hostInterface(String netns) {
    return netns + "-host";
  }

  private void inside(String... command) {
    List<String> all = new ArrayList<>(List.of("nsenter", "--net=/run/netns/" + netns, "--"));
    all.addAll(List.of(command));
    Commands.must(all);
  }
}
