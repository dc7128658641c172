package io.vgpu.control.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.Names;
import io.vgpu.control.testing.FakeApiServer;
import io.vgpu.control.testing.FakeApiServer.Fate;
import io.vgpu.control.testing.Ledger;
import io.vgpu.control.testing.Nodes;
import io.vgpu.control.testing.Pods;
import io.vgpu.control.testing.RunningExtender;
import io.vgpu.control.testing.SchedulerClient;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.NodeConfig;
import io.vgpu.model.PodDemand;
import io.vgpu.model.Use;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * 200 pods at once on 4 nodes of 4 GPUs, an API server that refuses, forgets and repeats, and an
 * extender that is ended and begun again in between: no card is ever promised twice, checked at
 * each single bind from the API server's objects alone, and what fits is bound in the end.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class BurstIT {
  private static final int PODS = 200;
  private static final int TRIES = 12;
  private static final List<String> NODES = List.of("n1", "n2", "n3", "n4");

  @TempDir Path folder;

  private final Map<String, PodDemand> demands = new ConcurrentHashMap<>();

  private static Pods pod(Random random) {
    Pods pod = new Pods();
    switch (random.nextInt(6)) {
      case 0 -> pod.init(1, 30, 4000).app(1 + random.nextInt(2), 10, 1024);
      case 1 -> pod.sidecar(1, 5, 512).app(1, 10, 2048);
      case 2 -> pod.app(2, 20, 2048);
      default -> pod.app(1, 20, 2048).app(1, 20, 2048);
    }
    return pod;
  }

  private static Map<String, String> wishes(Random random) {
    String[] policies = {"binpack", "spread", "none"};
    return Map.of(
        Names.DEFAULT.nodeSchedulerPolicy(), policies[random.nextInt(3)],
        Names.DEFAULT.deviceSchedulerPolicy(), policies[random.nextInt(3)]);
  }

  @ParameterizedTest(name = "seed {0}, faults {1}, gates {2}")
  @CsvSource({
    "1, 0, SerializedNodeFilter=true",
    "20260806, 30, SerializedNodeFilter=false",
    "7, 60, SerializedNodeFilter=false"
  })
  void noCardIsEverPromisedTwice(long seed, int faultPercent, String gates) throws Exception {
    Random random = new Random(seed);
    try (FakeApiServer api = new FakeApiServer()) {
      List<GpuDevice> cards = Nodes.alike(4, 24000);
      Map<String, Map<GpuUuid, Use>> capacity = new HashMap<>();
      for (String n : NODES) {
        api.node(Nodes.record(n, cards, NodeConfig.DEFAULT));
        capacity.put(
            n,
            cards.stream()
                .collect(
                    Collectors.toMap(
                        GpuDevice::uuid, d -> new Use(d.number(), d.core(), d.memory()))));
      }
      Ledger ledger = new Ledger(capacity, demands);
      for (int i = 0; i < PODS; i++) {
        Pods pod = pod(random);
        demands.put("p" + i, pod.request().demand());
        api.pod("p" + i, pod.request().demand(), wishes(random));
      }
      Random faults = new Random(seed);
      api.fate(
          p -> {
            synchronized (faults) {
              Fate[] all = Fate.values();
              return faults.nextInt(100) < faultPercent
                  ? all[1 + faults.nextInt(all.length - 1)]
                  : Fate.KEPT;
            }
          });
      List<AssertionError> broken = new ArrayList<>();
      api.onBound(
          bound -> {
            try {
              ledger.check(api.bound());
            } catch (AssertionError e) {
              broken.add(e);
            }
          });

      AtomicInteger next = new AtomicInteger();
      int half = PODS / 2;
      try (RunningExtender first = new RunningExtender(api, folder, gates)) {
        burst(api, first, next, half);
      }
      // what the first left open is recomputed from the bound pods alone
      try (RunningExtender second = new RunningExtender(api, folder, gates)) {
        burst(api, second, next, PODS);
        next.set(0);
        api.fate(p -> Fate.KEPT);
        burst(api, second, next, PODS);
      }
      assertThat(broken).isEmpty();
      Map<String, Map<GpuUuid, Use>> used = ledger.check(api.bound());
      long promised =
          used.values().stream().flatMap(m -> m.values().stream()).mapToLong(Use::cores).sum();
      assertThat(promised).as("the 16 cards are nearly full").isGreaterThan(16 * 80L);
    }
  }

  private void burst(FakeApiServer api, RunningExtender extender, AtomicInteger next, int until)
      throws Exception {
    List<Callable<Boolean>> tasks = new ArrayList<>();
    for (int i = next.get(); i < until; i++) {
      String name = "p" + next.getAndIncrement();
      tasks.add(() -> schedule(api, extender.client(), name));
    }
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (var done : threads.invokeAll(tasks)) {
        done.get();
      }
    }
  }

  /** As kube-scheduler does it: filter, prioritize, bind; again after an error. */
  private static boolean schedule(FakeApiServer api, SchedulerClient client, String name)
      throws IOException, InterruptedException {
    for (int i = 0; i < TRIES; i++) {
      ObjectNode pod = api.read(name);
      if (pod.path("spec").has("nodeName")) {
        return true;
      }
      JsonNode filtered = client.filter(pod, NODES);
      List<String> fitting =
          filtered.get("NodeNames").isNull()
              ? List.of()
              : SchedulerClient.strings(filtered.get("NodeNames"));
      if (fitting.isEmpty()) {
        return false;
      }
      Map<String, Integer> scores = client.prioritize(pod, fitting);
      String best =
          scores.entrySet().stream()
              .max(Comparator.comparingInt(Map.Entry::getValue))
              .orElseThrow()
              .getKey();
      if (client.bind(pod, best).isEmpty()) {
        return true;
      }
    }
    return false;
  }
}
