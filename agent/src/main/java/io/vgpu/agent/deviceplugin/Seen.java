package io.vgpu.agent.deviceplugin;

import io.vgpu.agent.deviceplugin.AdmittedPod.Admitted;
import io.vgpu.agent.deviceplugin.PodEntry.Turn;
import io.vgpu.agent.kube.NodePod;
import io.vgpu.agent.kubelet.ListedPod;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Whom the kubelet has listed in its present life, and whom it was answered for last. It takes up
 * one pod after the other and admits each before the next (identity-facts.md 1): so a pod that is
 * listed for the first time is the one it asks for, and while nobody is new it can only ask for a
 * later container of the last one. Immutable; starts anew before each registration.
 *
 * @param listed UIDs that each listed name had by the kubelet's own word, or can only have had;
 *     none when nobody could tell
 * @param last the container answered last, if the last question was answered
 * @param waiting who stood without devices at the last look and was not answered, and since when
 *     (nanoTime): in this life the kubelet is past them, it skipped or rejected them
 * @param byKubelet whether the kubelet ever told UIDs itself
 */
record Seen(
    Map<String, Set<String>> listed,
    Optional<Asked> last,
    Map<String, Long> waiting,
    boolean byKubelet) {
  /** Far more than a node's pods; beyond this the eldest are forgotten. */
  static final int MAX_NAMES = 8192;

  static final Seen NOTHING = new Seen(Map.of(), Optional.empty(), Map.of(), false);

  /** Whether a pod is listed for the first time in this life. */
  enum Newness {
    NEW,
    /**
     * Its name was listed before, and whether for it or for one before it of that name is not
     * known. The kubelet may be seconds behind the API: it still lists a pod whose successor the
     * API knows.
     */
    PERHAPS,
    OLD
  }

  /** The container that a question was answered for. */
  record Asked(String uid, String container) {}

  /** What the view tells of a pod that is in it. */
  Newness newness(NodePod pod, PodView view) {
    Set<String> uids = listed.get(key(pod.ref().namespace(), pod.ref().name()));
    if (uids == null) {
      return Newness.NEW;
    }
    if (uids.contains(pod.ref().uid())) {
      return Newness.OLD;
    }
    return view.fromKubelet() && !uids.isEmpty() ? Newness.NEW : Newness.PERHAPS;
  }

  /** Whether the kubelet lists a pod for the first time that the view cannot name. */
  boolean hasUnknownNews(PodView view) {
    return view.listed().stream()
        .anyMatch(
            l -> !listed.containsKey(key(l.namespace(), l.name())) && view.named(l).isEmpty());
  }

  /** Whether nobody being new, the kubelet can ask for this container of the last pod. */
  boolean comesNext(Admitted a) {
    return last.map(
            l ->
                l.uid().equals(a.pod().ref().uid())
                    && after(PodEntry.turns(a.pod().demand()), l.container()).contains(a.turn()))
        .orElse(false);
  }

  /** The containers that the kubelet comes to after this one. */
  static List<Turn> after(List<Turn> order, String container) {
    for (int i = 0; i < order.size(); i++) {
      if (order.get(i).container().equals(container)) {
        return order.subList(i + 1, order.size());
      }
    }
    return order;
  }

  /** A question was looked at: {@code answer} is the one it was for, if that could be told. */
  Seen asked(PodView view, Set<String> withoutDevices, Optional<Admitted> answer, long nanoTime) {
    Map<String, Set<String>> all = new LinkedHashMap<>(listed);
    view.listed().forEach(l -> note(l, view, all));
    answer.ifPresent(
        a ->
            all.merge(
                key(a.pod().ref().namespace(), a.pod().ref().name()),
                Set.of(a.pod().ref().uid()),
                Seen::both));
    while (all.size() > MAX_NAMES) {
      all.remove(all.keySet().iterator().next());
    }
    Map<String, Long> past = new HashMap<>();
    for (String uid : withoutDevices) {
      if (answer.filter(a -> a.pod().ref().uid().equals(uid)).isEmpty()) {
        past.put(uid, waiting.getOrDefault(uid, nanoTime));
      }
    }
    return new Seen(
        Collections.unmodifiableMap(all), // in this order the eldest go first
        answer.map(a -> new Asked(a.pod().ref().uid(), a.turn().container())),
        Map.copyOf(past),
        byKubelet || view.fromKubelet());
  }

  /** The API's view tells whose a listed name is only where it ever knew one pod of that name. */
  private static void note(ListedPod l, PodView view, Map<String, Set<String>> all) {
    Set<String> uids = view.named(l).stream().map(p -> p.ref().uid()).collect(Collectors.toSet());
    if (view.fromKubelet()) {
      all.merge(key(l.namespace(), l.name()), uids, Seen::both);
    } else {
      all.putIfAbsent(key(l.namespace(), l.name()), uids.size() == 1 ? uids : Set.of());
    }
  }

  /** What a look says that is made while the kubelet cannot ask: everybody listed is past. */
  Seen anew(PodView view, Set<String> withoutDevices, long nanoTime) {
    return new Seen(Map.of(), Optional.empty(), waiting, byKubelet)
        .asked(view, withoutDevices, Optional.empty(), nanoTime);
  }

  /** An Allocate without a question before it was answered for the container. */
  Seen allocated(String uid, String container) {
    return new Seen(listed, Optional.of(new Asked(uid, container)), waiting, byKubelet);
  }

  /** Who has been waiting in vain for so long that no admission can still be under way. */
  Set<String> waitingSince(long nanoTime) {
    return waiting.entrySet().stream()
        .filter(w -> w.getValue() - nanoTime <= 0)
        .map(Map.Entry::getKey)
        .collect(Collectors.toUnmodifiableSet());
  }

  private static Set<String> both(Set<String> one, Set<String> other) {
    Set<String> both = new HashSet<>(one);
    both.addAll(other);
    return Set.copyOf(both);
  }

  private static String key(String namespace, String name) {
    return namespace + "/" + name;
  }
}
