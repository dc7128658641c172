package io.vgpu.control.scheduler;

import io.vertx.core.buffer.Buffer;
import io.vgpu.control.testing.SchedulerClient;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code make bench-scheduler}: how long filter and prioritize take, inside the process and through
 * HTTP, while every pod that is asked about is also bound and an old one ends. One answer in a
 * hundred is checked by counting. Not a test: nothing fails for being slow.
 */
final class SchedulerBench {
  private static final int[][] SIZES = {
    {100, 1_000}, {1_000, 1_000}, {1_000, 10_000}, {5_000, 1_000}, {5_000, 10_000}, {5_000, 100_000}
  };
  private static final Map<String, Map<String, String>> POLICIES =
      new java.util.TreeMap<>(
          Map.of(
              "none", Map.of(),
              "binpack", both("binpack"),
              "spread", both("spread"),
              "fgd", both("fgd"),
              "foresight", both("foresight"),
              "numa", Map.of("device-topology-mode", "numa"),
              "link", Map.of("device-topology-mode", "link"),
              "link-strict+binpack",
                  Map.of(
                      "device-topology-mode", "link-strict",
                      "node-scheduler-policy", "binpack",
                      "device-scheduler-policy", "binpack")));
  private static final int CALLS = Integer.getInteger("bench.calls", 400);
  private static final int WARM_UP = Integer.getInteger("bench.warmup", 300);
  private static final int CLIENTS = 16;
  private static final long SEED = Long.getLong("bench.seed", 20261130L);

  private static Map<String, String> both(String word) {
    return Map.of("node-scheduler-policy", word, "device-scheduler-policy", word);
  }

  private SchedulerBench() {}

  public static void main(String[] args) throws Exception {
    ObjectNode report = ExtenderJson.JSON.createObjectNode();
    ObjectNode machine = report.putObject("machine");
    BenchWorld.machine().forEach((k, v) -> machine.put(k, String.valueOf(v)));
    report.put("seed", SEED).put("callsEach", CALLS).put("warmUpCalls", WARM_UP);
    var rows = report.putArray("rows");
    for (int[] size : SIZES) {
      if (wanted("bench.sizes", size[0] + "/" + size[1])) {
        try (BenchWorld world = new BenchWorld(size[0], size[1], SEED)) {
          for (Map.Entry<String, Map<String, String>> policy : POLICIES.entrySet()) {
            if (!wanted("bench.policies", policy.getKey())) {
              continue;
            }
            ObjectNode row = rows.addObject();
            row.put("nodes", size[0]).put("cards", size[0] * BenchWorld.CARDS);
            row.put("pods", size[1]).put("policy", policy.getKey());
            new Round(world, policy.getValue(), row).run();
            System.out.println(row);
          }
          throughput(world, rows.addObject(), size);
          heap(rows.addObject(), size);
        }
      }
    }
    Path out = Path.of(System.getProperty("bench.out", "build/bench/scheduler.json"));
    Files.createDirectories(out.toAbsolutePath().getParent());
    Files.writeString(out, report.toPrettyString() + "\n");
  }

  /** All, unless a list says which. */
  private static boolean wanted(String property, String word) {
    String list = System.getProperty(property, "");
    return list.isEmpty() || List.of(list.split(",", -1)).contains(word);
  }

  private static void check(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }

  /** One policy on one cluster. */
  private static final class Round {
    private final BenchWorld world;
    private final Map<String, String> words;
    private final ObjectNode row;
    private final Random random = new Random(SEED);
    private int checked;
    private int made;

    Round(BenchWorld world, Map<String, String> words, ObjectNode row) {
      this.world = world;
      this.words = words;
      this.row = row;
    }

    void run() throws IOException, InterruptedException {
      try (SchedulerClient client = new SchedulerClient(world.port())) {
        for (int i = 0; i < WARM_UP; i++) {
          inside();
        }
        long[][] server = new long[3][CALLS];
        for (int i = 0; i < CALLS; i++) {
          long[] took = inside();
          record(server, i, took);
        }
        for (int i = 0; i < WARM_UP / 4; i++) {
          through(client);
        }
        long[][] seen = new long[3][CALLS];
        for (int i = 0; i < CALLS; i++) {
          record(seen, i, through(client));
        }
        figures("server", server);
        figures("client", seen);
        row.put("checkedByOracle", checked);
      }
    }

    private static void record(long[][] to, int i, long[] took) {
      to[0][i] = took[0];
      to[1][i] = took[1];
      to[2][i] = took[0] + took[1];
    }

    private void figures(String side, long[][] nanos) {
      String[] verbs = {"filter", "prioritize", "both"};
      for (int v = 0; v < verbs.length; v++) {
        Arrays.sort(nanos[v]);
        row.put(side + "_" + verbs[v] + "_p50_ms", ms(nanos[v], 0.5));
        row.put(side + "_" + verbs[v] + "_p99_ms", ms(nanos[v], 0.99));
      }
    }

    private static double ms(long[] sorted, double quantile) {
      long nanos = sorted[Math.min(sorted.length - 1, (int) (sorted.length * quantile))];
      return Math.round(nanos / 1e4) / 100.0;
    }

    /** By the service itself: body in, answer out. */
    private long[] inside() throws IOException, InterruptedException {
      BenchPods.Asked pod = next();
      Buffer body = Buffer.buffer(SchedulerClient.args(pod.json(), world.names()));
      long start = System.nanoTime();
      Reply filtered = BenchWorld.get(world.service().filter(body));
      long filter = System.nanoTime() - start;
      List<String> fits = fits(pod, filtered.body().toString(StandardCharsets.UTF_8));
      Buffer again = Buffer.buffer(SchedulerClient.args(pod.json(), fits));
      start = System.nanoTime();
      Reply scored = BenchWorld.get(world.service().prioritize(again));
      long prioritize = System.nanoTime() - start;
      bind(pod, fits, scored.body().toString(StandardCharsets.UTF_8));
      return new long[] {filter, prioritize};
    }

    /** As kube-scheduler sees it. */
    private long[] through(SchedulerClient client) throws IOException, InterruptedException {
      BenchPods.Asked pod = next();
      String body = SchedulerClient.args(pod.json(), world.names());
      long start = System.nanoTime();
      String filtered = client.call("/scheduler/filter", body).body();
      long filter = System.nanoTime() - start;
      List<String> fits = fits(pod, filtered);
      String again = SchedulerClient.args(pod.json(), fits);
      start = System.nanoTime();
      String scored = client.call("/scheduler/prioritize", again).body();
      long prioritize = System.nanoTime() - start;
      bind(pod, fits, scored);
      return new long[] {filter, prioritize};
    }

    private BenchPods.Asked next() {
      return BenchPods.asked(random, "asked-" + System.identityHashCode(row) + "-" + made++, words);
    }

    private List<String> fits(BenchPods.Asked pod, String answer) {
      List<String> fits =
          SchedulerClient.strings(ExtenderJson.JSON.readTree(answer).get("NodeNames"));
      if (made % 100 == 0 && !words.containsValue("link-strict")) {
        check(
            new HashSet<>(fits).equals(world.oracle().fitting(pod.request())),
            "the oracle counts other nodes");
        checked++;
      }
      return fits;
    }

    private void bind(BenchPods.Asked pod, List<String> fits, String scored) {
      if (fits.isEmpty()) {
        return;
      }
      String best = fits.get(random.nextInt(fits.size()));
      for (JsonNode s : ExtenderJson.JSON.readTree(scored)) {
        if (s.get("Score").asInt() == Ranking.BEST) {
          best = s.get("Host").asString();
        }
      }
      world.binding(pod.request());
      ObjectNode args = ExtenderJson.JSON.createObjectNode();
      args.put("PodName", pod.request().pod().name()).put("PodNamespace", "ns");
      args.put("PodUID", pod.request().pod().uid()).put("Node", best);
      Reply reply = BenchWorld.get(world.service().bind(Buffer.buffer(args.toString())));
      check(reply.body().toString().contains("\"Error\":\"\""), reply.body().toString());
      world.removeOldest();
    }
  }

  /** How many filters a second {@value #CLIENTS} callers get. */
  private static void throughput(BenchWorld world, ObjectNode row, int[] size) throws Exception {
    Random random = new Random(SEED);
    String body =
        SchedulerClient.args(BenchPods.asked(random, "many", Map.of()).json(), world.names());
    try (ExecutorService callers = Executors.newFixedThreadPool(CLIENTS)) {
      long start = System.nanoTime();
      long end = start + TimeUnit.SECONDS.toNanos(5);
      List<Future<Integer>> counts =
          java.util.stream.IntStream.range(0, CLIENTS)
              .mapToObj(
                  i ->
                      callers.submit(
                          () -> {
                            int calls = 0;
                            try (SchedulerClient client = new SchedulerClient(world.port())) {
                              while (System.nanoTime() < end) {
                                client.call("/scheduler/filter", body);
                                calls++;
                              }
                            }
                            return calls;
                          }))
              .toList();
      int calls = 0;
      for (Future<Integer> c : counts) {
        calls += c.get();
      }
      row.put("nodes", size[0]).put("pods", size[1]).put("clients", CLIENTS);
      row.put("filters_per_second", Math.round(calls * 1e10 / (System.nanoTime() - start)) / 10.0);
      System.out.println(row);
    }
  }

  private static void heap(ObjectNode row, int[] size) {
    System.gc();
    long used = Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    row.put("nodes", size[0]).put("pods", size[1]);
    row.put("heap_after_gc_mib_with_oracle_and_clients", used >> 20);
    System.out.println(row);
  }
}
