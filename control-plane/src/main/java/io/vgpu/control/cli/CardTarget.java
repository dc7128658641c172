package io.vgpu.control.cli;

import io.vgpu.claim.CordonCodec;
import io.vgpu.claim.FormatException;
import io.vgpu.control.ApiFlags;
import io.vgpu.control.cli.kube.CardFacts;
import io.vgpu.control.cli.kube.CardReader;
import io.vgpu.model.DeviceCordon;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.GpuUuid;
import io.vgpu.runtime.Nearest;
import io.vgpu.runtime.UsageException;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Which cards of which node are meant, and how the word about them is written. */
final class CardTarget {
  private static final int TRIES = 10;

  @Mixin private ApiFlags api = new ApiFlags();

  @Parameters(index = "0", paramLabel = "NODE", description = "the node")
  private String node = "";

  @Parameters(
      index = "1..*",
      paramLabel = "GPU",
      description = "cards of the node, by index or UUID; none: all of them")
  private List<String> gpus = List.of();

  /** Cards by UUID, and how each is called. */
  record Cards(Map<GpuUuid, String> names) {}

  /** Talks with the API server. */
  CardReader open() {
    return new CardReader(api.kubeconfig(), api.master(), api.names());
  }

  String node() {
    return node;
  }

  /** Says of the cards that they are in this mode, with the reason where one is given. */
  Cards set(CardReader reader, DeviceCordon.Mode mode, @Nullable String reason, Clock clock) {
    String now = clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
    for (int i = 0; i < TRIES; i++) {
      CardFacts facts = read(reader);
      Cards cards = choose(facts, Set.of());
      if (cards.names().isEmpty()) {
        throw new UsageException("node " + node + ": has no vGPU cards registered");
      }
      Map<GpuUuid, DeviceCordon> known = CordonCodec.read(facts.cordon()).cordons();
      Map<GpuUuid, DeviceCordon> set = new HashMap<>();
      for (GpuUuid card : cards.names().keySet()) {
        DeviceCordon before = known.get(card);
        String why = reason != null ? reason : before == null ? "" : before.reason();
        if (before == null || before.mode() != mode || !before.reason().equals(why)) {
          set.put(card, new DeviceCordon(mode, why, now));
        }
      }
      if (set.isEmpty() || reader.write(facts, changed(facts, set))) {
        return cards;
      }
    }
    throw busy();
  }

  /** Takes back what was said of the cards; where none is named, all that was said of the node. */
  Cards clear(CardReader reader) {
    for (int i = 0; i < TRIES; i++) {
      CardFacts facts = read(reader);
      Set<GpuUuid> known = CordonCodec.read(facts.cordon()).cordons().keySet();
      Cards chosen = choose(facts, known);
      Map<GpuUuid, String> cleared = new LinkedHashMap<>(chosen.names());
      cleared.keySet().retainAll(known);
      String text =
          gpus.isEmpty() || facts.cordon() == null
              ? null
              : CordonCodec.changed(facts.cordon(), Map.of(), chosen.names().keySet());
      if (Objects.equals(text, facts.cordon()) || reader.write(facts, text)) {
        return new Cards(cleared);
      }
    }
    throw busy();
  }

  private UsageException busy() {
    return new UsageException(
        "node " + node + ": was changed by others " + TRIES + " times in a row; try again");
  }

  private CardFacts read(CardReader reader) {
    return reader
        .read(node)
        .orElseThrow(() -> new UsageException("node \"" + node + "\": not found"));
  }

  /** Whoever left a text that is no JSON left no word that could be kept. */
  private static @Nullable String changed(CardFacts facts, Map<GpuUuid, DeviceCordon> set) {
    try {
      return CordonCodec.changed(facts.cordon(), set, List.of());
    } catch (FormatException e) {
      return CordonCodec.changed(null, set, List.of());
    }
  }

  /** {@code more}: cards that are known, though the node does not have them any more. */
  private Cards choose(CardFacts facts, Set<GpuUuid> more) {
    Map<String, GpuUuid> byWord = new LinkedHashMap<>();
    Map<GpuUuid, String> all = new LinkedHashMap<>();
    for (GpuDevice d : facts.devices()) {
      byWord.put(Integer.toString(d.id()), d.uuid());
      byWord.put(d.uuid().value(), d.uuid());
      all.put(d.uuid(), "GPU " + d.id() + " (" + d.uuid() + ")");
    }
    for (GpuUuid uuid : new TreeSet<>(more)) {
      byWord.put(uuid.value(), uuid);
      all.putIfAbsent(uuid, "GPU " + uuid);
    }
    if (gpus.isEmpty()) {
      return new Cards(all);
    }
    Map<GpuUuid, String> chosen = new LinkedHashMap<>();
    for (String word : gpus) {
      GpuUuid uuid = byWord.get(word);
      if (uuid == null) {
        List<String> known = new ArrayList<>(byWord.keySet());
        throw new UsageException(
            "GPU \""
                + word
                + "\": node "
                + node
                + " has no such card"
                + Nearest.closest(word, known).map(n -> " (nearest known: " + n + ")").orElse(""));
      }
      chosen.put(uuid, Objects.requireNonNull(all.get(uuid), "every card has a name"));
    }
    return new Cards(chosen);
  }
}
