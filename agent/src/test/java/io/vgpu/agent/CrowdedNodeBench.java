package io.vgpu.agent;

import io.vgpu.agent.deviceplugin.DeviceIds;
import io.vgpu.agent.kubelet.FakeKubelet.Result;
import io.vgpu.agent.testing.AgentProcess;
import io.vgpu.agent.testing.BoundPod;
import io.vgpu.agent.testing.Built;
import io.vgpu.agent.testing.SmallNode;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.PodRef;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import k8s.deviceplugin.v1beta1.ContainerAllocateResponse;
import k8s.deviceplugin.v1beta1.Mount;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * What the agent's process takes on a node of 8 cards and 80 containers, started by its launcher,
 * with default gates and the pods' watch on. Half of the containers are busy: programs under the
 * library as it ships, on the fake card, that always have a kernel of 5 ms to run and may have 10
 * %. Kubelet and API server are stand-ins in this process, on TLS. One run gives all parts that are
 * wanted, and does nothing for others but what they build upon.
 */
final class CrowdedNodeBench {
  static final List<String> PARTS = List.of("allocate", "memory", "cpu", "start");

  private static final int CONTAINERS = 80;
  private static final int MORE = Integer.getInteger("bench.allocates", 220);
  private static final int BUSY = Integer.getInteger("bench.busy", 40);
  private static final int SCRAPES = Integer.getInteger("bench.scrapes", 1000);
  private static final int SECONDS = Integer.getInteger("bench.seconds", 30);
  private static final int STARTS = Integer.getInteger("bench.starts", 5);
  private static final int STARTS_WITHOUT_CACHE = 2;
  private static final long SCRAPE_PAUSE_NS = 10_000_000;
  private static final int MOST_REFUSED = 20;
  private static final int KERNEL_NS = 5_000_000;
  private static final int CORES = 10;
  private static final int MEMORY_MIB = 1024;
  private static final long MOUNT_BOUND_SECONDS = 20;

  private final Predicate<String> wanted;
  private final long begunNs = System.nanoTime();
  private @Nullable ObjectNode measured;
  private int made;
  private int refused;

  CrowdedNodeBench(Predicate<String> wanted) {
    this.wanted = wanted;
  }

  /** A pod, and what the agent answered for it. */
  private record Admitted(BoundPod pod, ContainerAllocateResponse answer) {}

  JsonNode part(JsonMapper json, String name) throws Exception {
    ObjectNode all = measured;
    if (all == null) {
      all = json.createObjectNode();
      Path dir = Files.createTempDirectory("vgpu-bench");
      List<Process> busy = new ArrayList<>();
      try (SmallNode node = new SmallNode(dir, "node", true)) {
        run(all, dir, node, busy);
      } finally {
        busy.forEach(Process::destroyForcibly);
      }
      measured = all;
    }
    return all.get(name);
  }

  private void run(ObjectNode all, Path dir, SmallNode node, List<Process> busy) throws Exception {
    Path profile = Files.copy(Built.profile("8xA100.gpus"), dir.resolve("cards.gpus"));
    Map<String, String> cards = SmallNode.cards(profile, dir.resolve("cards.state"));
    List<Admitted> there = new ArrayList<>();
    try (AgentProcess agent = agent(node, dir, cards, "")) {
      long unused = agent.ready();
      all.set("allocate", allocates(all.objectNode(), node, there));
      say("allocated");
      ObjectNode cpu = all.putObject("cpu");
      if (wanted.test("cpu")) {
        cpu.set("idle", share(all.objectNode(), agent));
        say("watched with none busy");
      }
      if (wanted.test("cpu") || wanted.test("memory")) {
        for (Admitted container : there.subList(0, BUSY)) {
          busy.add(work(dir, cards, container));
        }
        all.set("memory", memory(all.objectNode(), agent));
        say("scraped");
      }
      if (wanted.test("cpu")) {
        cpu.set("busy", share(all.objectNode(), agent));
        cpu.put("containers_busy", busy.stream().filter(Process::isAlive).count());
        say("watched");
      }
      int unusedStatus = agent.stop();
    }
    busy.forEach(Process::destroyForcibly); // the starts are not theirs to slow down
    if (wanted.test("start")) {
      ObjectNode starts = all.objectNode();
      starts.set("as_built", starts(starts.objectNode(), node, dir, cards, "", STARTS));
      say("started " + STARTS + " times");
      starts.set(
          "without_cache",
          starts(starts.objectNode(), node, dir, cards, "-XX:AOTMode=off", STARTS_WITHOUT_CACHE));
      say("started without the cache");
      all.set("start", starts);
    }
  }

  private static AgentProcess agent(
      SmallNode node, Path dir, Map<String, String> cards, String options) throws IOException {
    Map<String, String> environment = new HashMap<>(cards);
    environment.put(
        "VGPU_JAVA_OPTS", (options + " " + System.getProperty("bench.java", "")).strip());
    Files.createDirectories(dir.resolve("proc"));
    return new AgentProcess(
        Built.shim("../../bin/vgpu-agent"),
        node,
        dir,
        environment,
        // a folder says whose a process is: no kubelet puts these programs into cgroups
        List.of("--proc-root=" + dir.resolve("proc")));
  }

  private ObjectNode allocates(ObjectNode report, SmallNode node, List<Admitted> there)
      throws InterruptedException {
    List<GpuUuid> cards =
        node.kubelet().nextList().keySet().stream()
            .flatMap(id -> DeviceIds.gpu(id).stream())
            .distinct()
            .sorted((a, b) -> a.value().compareTo(b.value()))
            .toList();
    Deque<Admitted> oldestFirst = new ArrayDeque<>();
    for (int i = 0; i < CONTAINERS; i++) {
      oldestFirst.add(admit(node, cards.get(i % cards.size())));
    }
    List<Long> took = node.kubelet().allocateNs;
    report.put("first_ms", ms(took.getFirst()));
    report.set("eighty_ms", quantiles(report, took));
    took.clear();
    // one card ahead: an id that is asked for has been free for a while
    cards.forEach(card -> leave(node, oldestFirst));
    for (int i = 0; i < MORE; i++) {
      oldestFirst.add(admit(node, cards.get(i % cards.size())));
      leave(node, oldestFirst);
    }
    report.put("more", MORE);
    if (MORE > 0) {
      report.set("more_ms", quantiles(report, took));
    }
    for (int i = 0; i < cards.size(); i++) {
      oldestFirst.add(admit(node, cards.get((MORE + i) % cards.size())));
    }
    there.addAll(oldestFirst);
    report.put("refused", refused);
    return report;
  }

  private static void leave(SmallNode node, Queue<Admitted> oldestFirst) {
    Admitted gone = oldestFirst.remove();
    node.remove(gone.pod());
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20)); // a kubelet has other things to do
  }

  /** A refused pod is failed for good: as the rescheduler would, another one comes in its place. */
  private Admitted admit(SmallNode node, GpuUuid card) {
    while (refused <= MOST_REFUSED) {
      int number = made++;
      BoundPod pod =
          new BoundPod(
              new PodRef("team-" + number % 7, "training-job-" + number, uid(number)),
              card,
              CORES,
              MEMORY_MIB);
      switch (node.admit(pod)) {
        case Result.Rejected(String message) -> {
          refused++;
          node.remove(pod);
          say(pod.ref() + " was not admitted: " + message);
        }
        case Result.Admitted(var answers) -> {
          String refusal =
              node.kubelet().preStart(node.kubelet().held(pod.ref().uid(), BoundPod.CONTAINER));
          if (!refusal.isEmpty()) {
            throw new IllegalStateException(pod.ref() + " was not started: " + refusal);
          }
          node.runs(pod, containerId(pod));
          return new Admitted(pod, Objects.requireNonNull(answers.get(BoundPod.CONTAINER)));
        }
      }
    }
    throw new IllegalStateException("more than " + MOST_REFUSED + " pods were refused");
  }

  private static String uid(int number) {
    return "00000000-0000-4000-8000-%012d".formatted(number);
  }

  private static String containerId(BoundPod pod) {
    return pod.ref().uid().replace("-", "").repeat(2);
  }

  /** A program that always has work, in what a container runtime makes of the agent's answer. */
  private static Process work(Path dir, Map<String, String> cards, Admitted container)
      throws Exception {
    BoundPod pod = container.pod();
    Path place = Files.createDirectories(dir.resolve("containers").resolve(pod.ref().uid()));
    String base = "/etc/vgpu-manager/" + BoundPod.CONTAINER;
    StringBuilder mounts = new StringBuilder("set -e");
    for (Mount m : container.answer().getMountsList()) {
      String path = m.getContainerPath();
      if (path.equals(base) || path.startsWith(base + "/")) {
        mounts
            .append("; mount --bind '%s' '".formatted(m.getHostPath()))
            .append(place + path.substring(base.length()))
            .append("'");
      }
    }
    Process mount = new ProcessBuilder("sh", "-c", mounts.toString()).inheritIO().start();
    if (!mount.waitFor(MOUNT_BOUND_SECONDS, TimeUnit.SECONDS) || mount.exitValue() != 0) {
      throw new IOException("cannot mount the files of " + pod.ref());
    }
    ProcessBuilder builder =
        new ProcessBuilder(
            Built.shim("bench-work").toString(), "--rounds", "" + KERNEL_NS, "--seconds", "590");
    builder.environment().putAll(cards);
    builder
        .environment()
        .putAll(
            Map.of(
                "LD_PRELOAD", Built.shim("libvgpu-control.so").toString(),
                "CUDA_SHIM_CONFIG_DIR", place.toString(),
                "CUDA_VISIBLE_DEVICES", pod.card().value()));
    Process work =
        builder
            .redirectErrorStream(true)
            .redirectOutput(dir.resolve(pod.ref().name() + ".log").toFile())
            .start();
    Path entry = Files.createDirectories(dir.resolve("proc").resolve("" + work.pid()));
    Files.writeString(
        entry.resolve("cgroup"),
        "0::/kubepods/burstable/pod" + pod.ref().uid() + "/" + containerId(pod) + "\n");
    return work;
  }

  private static ObjectNode memory(ObjectNode report, AgentProcess agent) throws Exception {
    report.set("before", memoryNow(report.objectNode(), agent));
    long cpu = agent.cpuMs();
    int bytes = 0;
    for (int i = 0; i < SCRAPES; i++) {
      bytes = agent.scrape();
      LockSupport.parkNanos(SCRAPE_PAUSE_NS); // the text is made anew once a second
    }
    report.put("scrapes", SCRAPES);
    report.put("bytes_gzip", bytes);
    report.put("cpu_ms_a_scrape", (agent.cpuMs() - cpu) / (double) SCRAPES);
    report.set("after", memoryNow(report.objectNode(), agent));
    return report;
  }

  private static ObjectNode memoryNow(ObjectNode report, AgentProcess agent) throws IOException {
    report.put("rss_mb", agent.status("VmRSS") / 1024);
    report.put("anonymous_mb", agent.status("RssAnon") / 1024);
    report.put("file_mb", agent.status("RssFile") / 1024);
    report.put("threads", agent.status("Threads"));
    return report;
  }

  /** Of one core, over a time in which Prometheus scrapes every ten seconds. */
  private static ObjectNode share(ObjectNode report, AgentProcess agent) throws Exception {
    long began = System.nanoTime();
    long cpu = agent.cpuMs();
    Map<String, Long> before = agent.cpuMsByThread();
    for (int i = 0; i < SECONDS; i++) {
      if (i % 10 == 0) {
        int unused = agent.scrape();
      }
      LockSupport.parkNanos(began + TimeUnit.SECONDS.toNanos(i + 1) - System.nanoTime());
    }
    double seconds = (System.nanoTime() - began) / 1e9;
    report.put("seconds", Math.round(seconds));
    report.put("percent_of_a_core", Math.round((agent.cpuMs() - cpu) / seconds * 10) / 100.0);
    ObjectNode threads = report.putObject("thread_ms");
    agent
        .cpuMsByThread()
        .forEach(
            (name, ms) -> {
              long more = ms - before.getOrDefault(name, 0L);
              if (more > 0) {
                threads.put(name, more);
              }
            });
    return report;
  }

  /** From exec to ready, with all the containers on the node. */
  private static ObjectNode starts(
      ObjectNode report,
      SmallNode node,
      Path dir,
      Map<String, String> cards,
      String options,
      int times)
      throws Exception {
    ArrayNode wall = report.putArray("ready_ms");
    ArrayNode cpu = report.putArray("cpu_ms");
    for (int i = 0; i < times; i++) {
      try (AgentProcess agent = agent(node, dir, cards, options)) {
        wall.add(Math.round(agent.ready() / 1e6));
        cpu.add(agent.cpuMs());
        report.set("memory", memoryNow(report.objectNode(), agent));
        Files.copy(
            dir.resolve("agent.log"),
            dir.resolve("start-" + i + ".log"),
            StandardCopyOption.REPLACE_EXISTING);
        int unused = agent.stop();
      }
    }
    return report;
  }

  private static ObjectNode quantiles(ObjectNode of, List<Long> ns) {
    List<Long> sorted = ns.stream().sorted().toList();
    ObjectNode q = of.objectNode();
    q.put("p50", ms(sorted.get(sorted.size() / 2)));
    q.put("p99", ms(sorted.get(sorted.size() * 99 / 100)));
    q.put("max", ms(sorted.getLast()));
    return q;
  }

  private static double ms(long ns) {
    return Math.round(ns / 1e4) / 100.0;
  }

  private void say(String what) {
    System.err.printf("%4d s: %s%n", (System.nanoTime() - begunNs) / 1_000_000_000, what);
  }
}
