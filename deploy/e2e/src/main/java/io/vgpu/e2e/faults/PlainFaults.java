package io.vgpu.e2e.faults;

import io.vgpu.e2e.cluster.Await;
import io.vgpu.e2e.cluster.Part;
import io.vgpu.e2e.product.OurPart;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** What can happen to agent, kubelet, API server, disk and node. */
final class PlainFaults {
  private static final int PODS = 12;
  private static final Duration API_GONE = Duration.ofSeconds(60);
  private static final Duration DISK_FULL = Duration.ofSeconds(5);

  private PlainFaults() {}

  static List<Fault> all() {
    return List.of(
        new Fault("agent", "killed in a burst and started anew", PlainFaults::agentKilled),
        new Fault("agent", "killed; pods are deleted before it is back", PlainFaults::podsGone),
        new Fault("kubelet", "killed in a burst and started anew", PlainFaults::kubeletRestart),
        new Fault("kubelet", "and the agent, killed at once", PlainFaults::bothKilled),
        new Fault("kubelet", "started anew without its checkpoint", PlainFaults::checkpointLost),
        new Fault("API server", "gone for 60 s, the agent started meanwhile", PlainFaults::apiGone),
        new Fault("disk", "of the notes full for 5 s", s -> full(s, s.product().managerDir())),
        new Fault("disk", "of usage full for 5 s", s -> full(s, s.product().usageDir())),
        new Fault("node", "rebooted: tmpfs empty, another boot id", PlainFaults::reboot));
  }

  private static void agentKilled(Stage stage) {
    stage.pods(PODS);
    stage.awaitBegun(2);
    stage.killAgent();
    stage.startAgent();
  }

  /** What pods held that went while nobody looked is given up at the next start. */
  private static void podsGone(Stage stage) {
    stage.standing().begin();
    stage.killAgent();
    stage.standing().deleteAll();
    stage.startAgent();
    stage.standing().begin();
    stage.pods(1);
  }

  private static void kubeletRestart(Stage stage) {
    stage.pods(PODS);
    stage.awaitBegun(2);
    stage.killKubelet();
    stage.startKubelet();
  }

  /**
   * A kubelet that comes back while there is no plugin admits anew what it finds, and rejects a pod
   * whose init container it would have to give devices again, though that one has ended.
   */
  private static void bothKilled(Stage stage) {
    stage.restartsContainers();
    stage.pods(PODS);
    stage.awaitBegun(2);
    stage.killKubelet();
    stage.killAgent();
    stage.startKubelet();
    stage.startAgent();
    stage.newPod();
    stage.standing().awaitAsClaimed();
  }

  private static void checkpointLost(Stage stage) throws IOException {
    stage.killKubelet();
    stage.loseKubeletCheckpoint();
    stage.startKubelet();
    stage.product().awaitReady(OurPart.AGENT);
    stage.pods(PODS);
  }

  /** The kubelet goes on with what it knows; who starts then must still serve what runs. */
  private static void apiGone(Stage stage) {
    stage.pods(PODS);
    stage.awaitBegun(2);
    stage.cluster().part(Part.APISERVER).kill9();
    stage.killAgent();
    stage.product().startPart(OurPart.AGENT);
    stage.pause(API_GONE);
    stage.cluster().part(Part.APISERVER).start();
    stage.cluster().awaitServing(Part.APISERVER);
    stage.scene().watchAgain();
    stage.product().awaitReady(OurPart.AGENT);
    // it cannot keep its lease and ends; on a cluster its kubelet starts it anew
    if (!stage.product().process(OurPart.CONTROLLER).orElseThrow().isAlive()) {
      stage.product().startPart(OurPart.CONTROLLER);
    }
    stage.product().awaitReady(OurPart.CONTROLLER);
    stage.scene().forgiveWhatWasForbidden();
  }

  /** Nothing that cannot be written is promised: pods are refused, and made again. */
  private static void full(Stage stage, Path folder) throws IOException {
    AutoCloseable full = stage.full(folder);
    try {
      stage.pods(PODS);
      stage.pause(DISK_FULL);
    } finally {
      Stage.free(full);
    }
  }

  /**
   * Agent, kubelet and all containers are gone at once, and with them the tmpfs; the agent is
   * started first, as its files must be there before the kubelet starts containers anew.
   */
  private static void reboot(Stage stage) throws IOException {
    stage.restartsContainers();
    stage.killAgent();
    stage.killKubelet();
    stage.cluster().killContainers();
    Path usage = stage.product().usageDir();
    stage.cluster().inNetns(List.of("umount", "-l", usage.toString()));
    stage
        .cluster()
        .inNetns(
            List.of(
                "mount", "-t", "tmpfs", "-o", "mode=0711,size=256m", "tmpfs", usage.toString()));
    Path boot = stage.cluster().paths().runDir().resolve("boot_id");
    Files.writeString(boot, UUID.randomUUID() + "\n");
    stage
        .product()
        .agentRunsWith(
            Map.of(),
            List.of(
                "unshare",
                "--mount",
                "--propagation",
                "private",
                "sh",
                "-c",
                "mount --bind " + boot + " /proc/sys/kernel/random/boot_id && exec \"$@\"",
                "sh"));
    stage.product().startPart(OurPart.AGENT);
    Await.until(
        "the region files of those that ran",
        Stage.LIMIT,
        () -> stage.standing().missingFiles(stage.product()).isEmpty());
    stage.startKubelet();
    stage.product().awaitReady(OurPart.AGENT);
    stage.standing().awaitStartedAnew();
    stage.product().awaitCards();
    stage.pods(4);
  }
}
