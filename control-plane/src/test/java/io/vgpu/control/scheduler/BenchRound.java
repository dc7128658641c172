package io.vgpu.control.scheduler;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import tools.jackson.databind.node.ObjectNode;

/**
 * One policy on one cluster: every pod that is asked about is bound, and an old one ends, so that
 * the state changes at each call. One answer in a hundred is counted again.
 */
final class BenchRound {
  private static final byte[] BEST_SCORE = ascii(",\"Score\":" + Ranking.BEST + "}");

  private final BenchWorld world;
  private final Map<String, String> words;
  private final ObjectNode row;
  private final Random random;
  private final byte[] names;
  private int checked;
  private int made;
  private int fitting;

  /** The two questions that kube-scheduler asks about one pod. */
  private interface Caller {
    byte[] filter(byte[] body);

    byte[] prioritize(byte[] body);
  }

  BenchRound(BenchWorld world, Map<String, String> words, ObjectNode row, long seed) {
    this.world = world;
    this.words = words;
    this.row = row;
    this.random = new Random(seed);
    StringBuilder list = new StringBuilder();
    world.names().forEach(n -> list.append(list.isEmpty() ? "" : ",").append('"').append(n + '"'));
    this.names = ascii(list.toString());
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  void run(int warmUp, int calls) throws IOException {
    Caller inside =
        new Caller() {
          @Override
          public byte[] filter(byte[] body) {
            return BenchWorld.get(world.service().filter(body)).body().getBytes();
          }

          @Override
          public byte[] prioritize(byte[] body) {
            return BenchWorld.get(world.service().prioritize(body)).body().getBytes();
          }
        };
    measured("warmup", inside, warmUp, false);
    measured("server", inside, calls, true);
    try (BenchHttp http = new BenchHttp(world.port())) {
      Caller client =
          new Caller() {
            @Override
            public byte[] filter(byte[] body) {
              return post(http, "/scheduler/filter", body);
            }

            @Override
            public byte[] prioritize(byte[] body) {
              return post(http, "/scheduler/prioritize", body);
            }
          };
      measured("warmup", client, warmUp / 4 + 1, false);
      measured("client", client, calls, true);
    }
    row.put("checkedByOracle", checked).put("fitting_mean", fitting / Math.max(1, made));
  }

  private static byte[] post(BenchHttp http, String path, byte[] body) {
    try {
      return http.post(path, body);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void measured(String side, Caller caller, int calls, boolean report) {
    long[] serving = BenchSamples.serving();
    BenchSamples filter = new BenchSamples(calls, serving);
    BenchSamples prioritize = new BenchSamples(calls, serving);
    long paused = BenchSamples.pausedMs();
    long pauses = BenchSamples.pauses();
    for (int i = 0; i < calls; i++) {
      cycle(caller, filter, prioritize);
    }
    if (report) {
      filter.report(row, side + "_filter");
      prioritize.report(row, side + "_prioritize");
      filter.plus(prioritize).report(row, side + "_both");
      row.put(side + "_gc_pauses", BenchSamples.pauses() - pauses);
      row.put(side + "_gc_paused_ms", BenchSamples.pausedMs() - paused);
    }
  }

  private void cycle(Caller caller, BenchSamples filter, BenchSamples prioritize) {
    BenchPods.Asked pod =
        BenchPods.asked(random, "asked-" + System.identityHashCode(row) + "-" + made++, words);
    byte[] json = pod.json().toString().getBytes(StandardCharsets.UTF_8);
    byte[] body = args(json, names, 0, names.length);
    byte[] filtered = filter.measure(() -> caller.filter(body));
    int from = find(filtered, ascii("\"NodeNames\":["), 0) + 13;
    int to = find(filtered, ascii("]"), from);
    check(pod, filtered, from);
    byte[] again = args(json, filtered, from, to);
    byte[] scored = prioritize.measure(() -> caller.prioritize(again));
    if (to > from) {
      bind(pod, best(scored, filtered, from));
    }
  }

  private static byte[] args(byte[] pod, byte[] names, int from, int to) {
    ByteSink body = new ByteSink(pod.length + to - from + 64);
    body.put(ascii("{\"Pod\":")).put(pod).put(ascii(",\"Nodes\":null,\"NodeNames\":["));
    body.put(names, from, to).put(ascii("]}"));
    return java.util.Arrays.copyOf(body.bytes(), body.size());
  }

  private static int find(byte[] in, byte[] what, int from) {
    for (int at = from; at <= in.length - what.length; at++) {
      if (java.util.Arrays.equals(in, at, at + what.length, what, 0, what.length)) {
        return at;
      }
    }
    return -1;
  }

  /** The host that alone has the best score; any fitting one where there is none. */
  private String best(byte[] scored, byte[] filtered, int from) {
    int at = find(scored, BEST_SCORE, 0);
    if (at < 0) {
      List<String> fits = fits(filtered, from);
      return fits.get(random.nextInt(fits.size()));
    }
    int start = at - 1;
    while (scored[start - 1] != '"') {
      start--;
    }
    return new String(scored, start, at - 1 - start, StandardCharsets.US_ASCII);
  }

  private static List<String> fits(byte[] filtered, int from) {
    List<String> fits = new ArrayList<>();
    int at = from;
    while (filtered[at] == '"') {
      int end = find(filtered, ascii("\""), at + 1);
      fits.add(new String(filtered, at + 1, end - at - 1, StandardCharsets.US_ASCII));
      at = end + (filtered[end + 1] == ',' ? 2 : 1);
    }
    return fits;
  }

  private void check(BenchPods.Asked pod, byte[] filtered, int from) {
    List<String> fits = made % 20 == 0 ? fits(filtered, from) : List.of();
    fitting += 20 * fits.size();
    if (made % 100 == 0) {
      boolean strict = words.getOrDefault("device-topology-mode", "").endsWith("-strict");
      Set<String> all = world.oracle().fitting(pod.request(), strict);
      if (!all.containsAll(fits)
          || new HashSet<>(fits).size() != Math.min(all.size(), Shortlists.USUAL)) {
        throw new AssertionError("the oracle counts other nodes");
      }
      checked++;
    }
  }

  private void bind(BenchPods.Asked pod, String node) {
    world.binding(pod.request());
    ObjectNode args = ExtenderJson.JSON.createObjectNode();
    args.put("PodName", pod.request().pod().name()).put("PodNamespace", "ns");
    args.put("PodUID", pod.request().pod().uid()).put("Node", node);
    Reply reply =
        BenchWorld.get(world.service().bind(args.toString().getBytes(StandardCharsets.UTF_8)));
    if (!reply.body().toString().contains("\"Error\":\"\"")) {
      throw new AssertionError(reply.body().toString());
    }
    world.removeOldest();
  }
}
