package io.vgpu.control.scheduler;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code make bench-scheduler}: how long filter and prioritize take, inside the process and through
 * HTTP, while every pod that is asked about is also bound and an old one ends. One answer in a
 * hundred is checked by counting. Not a test: nothing fails for being slow.
 */
final class SchedulerBench {
  /** All that have room: 8 cards of 10 slots are for 80 pods a node. */
  private static final int[][] SIZES = {
    {100, 1_000}, {1_000, 1_000}, {1_000, 10_000}, {5_000, 1_000}, {5_000, 10_000}, {5_000, 100_000}
  };

  private static final Map<String, Map<String, String>> POLICIES =
      new TreeMap<>(
          Map.of(
              "none", Map.of(),
              "binpack", both("binpack"),
              "spread", both("spread"),
              "fgd", both("fgd"),
              "foresight", both("foresight"),
              "numa", Map.of("device-topology-mode", "numa"),
              "link", Map.of("device-topology-mode", "link"),
              "numa-strict+spread", strict("numa-strict", "spread"),
              "link-strict+binpack", strict("link-strict", "binpack")));
  private static final int CALLS = Integer.getInteger("bench.calls", 500);
  private static final int WARM_UP = Integer.getInteger("bench.warmup", 300);
  private static final int CLIENTS = 16;
  private static final long SEED = Long.getLong("bench.seed", 20261130L);

  private static Map<String, String> both(String word) {
    return Map.of("node-scheduler-policy", word, "device-scheduler-policy", word);
  }

  private static Map<String, String> strict(String mode, String word) {
    Map<String, String> words = new TreeMap<>(both(word));
    words.put("device-topology-mode", mode);
    return words;
  }

  private SchedulerBench() {}

  public static void main(String[] args) throws Exception {
    ObjectNode report = ExtenderJson.JSON.createObjectNode();
    ObjectNode machine = report.putObject("machine");
    BenchWorld.machine().forEach((k, v) -> machine.put(k, String.valueOf(v)));
    report.put("seed", SEED).put("callsEach", CALLS).put("warmUpCalls", WARM_UP);
    ArrayNode rows = report.putArray("rows");
    for (int[] size : SIZES) {
      if (wanted("bench.sizes", size[0] + "/" + size[1])) {
        try (BenchWorld world = new BenchWorld(size[0], size[1], SEED)) {
          world.learn();
          for (Map.Entry<String, Map<String, String>> policy : POLICIES.entrySet()) {
            if (wanted("bench.policies", policy.getKey())) {
              ObjectNode row = sized(rows.addObject(), size).put("policy", policy.getKey());
              new BenchRound(world, policy.getValue(), row, SEED).run(WARM_UP, CALLS);
              System.out.println(row);
            }
          }
          throughput(world, sized(rows.addObject(), size));
          heap(sized(rows.addObject(), size));
        }
      }
    }
    Path out = Path.of(System.getProperty("bench.out", "build/bench/scheduler.json"));
    Files.createDirectories(out.toAbsolutePath().getParent());
    Files.writeString(out, report.toPrettyString() + "\n");
  }

  private static ObjectNode sized(ObjectNode row, int[] size) {
    return row.put("nodes", size[0]).put("cards", size[0] * BenchWorld.CARDS).put("pods", size[1]);
  }

  /** All, unless a list says which. */
  private static boolean wanted(String property, String word) {
    String list = System.getProperty(property, "");
    return list.isEmpty() || List.of(list.split(",", -1)).contains(word);
  }

  /** How many filters a second {@value #CLIENTS} callers get. */
  private static void throughput(BenchWorld world, ObjectNode row) throws Exception {
    Random random = new Random(SEED);
    byte[] body =
        io.vgpu.control.testing.SchedulerClient.args(
                BenchPods.asked(random, "many", Map.of()).json(), world.names())
            .getBytes(StandardCharsets.UTF_8);
    try (ExecutorService callers = Executors.newFixedThreadPool(CLIENTS)) {
      long start = System.nanoTime();
      long end = start + TimeUnit.SECONDS.toNanos(5);
      List<Future<Integer>> counts =
          IntStream.range(0, CLIENTS)
              .mapToObj(i -> callers.submit(() -> calls(world.port(), body, end)))
              .toList();
      int calls = 0;
      for (Future<Integer> c : counts) {
        calls += c.get();
      }
      row.put("clients", CLIENTS);
      row.put("filters_per_second", Math.round(calls * 1e10 / (System.nanoTime() - start)) / 10.0);
      System.out.println(row);
    }
  }

  private static int calls(int port, byte[] body, long end) throws Exception {
    int calls = 0;
    try (BenchHttp client = new BenchHttp(port)) {
      while (System.nanoTime() < end) {
        client.post("/scheduler/filter", body);
        calls++;
      }
    }
    return calls;
  }

  private static void heap(ObjectNode row) {
    System.gc();
    long used = Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    row.put("heap_after_gc_mib_with_oracle_and_clients", used >> 20);
    System.out.println(row);
  }
}
