package io.vgpu.control.reschedule.kube;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.vgpu.claim.Names;
import io.vgpu.control.reschedule.CardsToLeave;
import io.vgpu.control.reschedule.FailedPod;
import io.vgpu.control.reschedule.NodeCards;
import io.vgpu.kube.SlimSource;
import io.vgpu.kube.SlimWatch;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Watches only the pods that may have to be replaced, chosen by the API server: those of phase
 * Failed, and those that an agent marked; and of nodes, which cards must be left. Other pods are
 * read only of nodes that have such cards.
 */
public final class FailedPodWatches implements AutoCloseable {
  private static final long PAGE = 200;
  private static final long NODES_A_PAGE = 100;

  private final SlimWatch<Pod, FailedPod> failed;
  private final SlimWatch<Pod, FailedPod> marked;
  private final SlimWatch<Node, NodeCards> nodes;

  /** {@code listener} is called on the watches' threads. */
  public FailedPodWatches(
      KubernetesClient client, Names names, CardsToLeave cards, Consumer<FailedPod> listener) {
    FailedPods slim = new FailedPods(names, cards);
    NodeCardsReader reader = new NodeCardsReader(names);
    this.nodes =
        new SlimWatch<>(
            "nodes",
            SlimSource.of(client.nodes(), NODES_A_PAGE),
            node -> Optional.of(reader.of(node)),
            cards);
    this.failed =
        new SlimWatch<>(
            "failed-pods",
            SlimSource.of(client.pods().inAnyNamespace().withField("status.phase", "Failed"), PAGE),
            pod -> Optional.of(slim.of(pod)),
            new Offers(listener));
    this.marked =
        new SlimWatch<>(
            "marked-pods",
            SlimSource.of(
                client.pods().inAnyNamespace().withLabel(names.assignedPhase(), "failed"), PAGE),
            pod -> Optional.of(slim.of(pod)),
            new Offers(listener));
  }

  /** Begins. */
  public void start() {
    nodes.start();
    failed.start();
    marked.start();
  }

  /** Whether the first lists are in. */
  public boolean synced() {
    return nodes.synced() && failed.synced() && marked.synced();
  }

  @Override
  public void close() {
    nodes.close();
    failed.close();
    marked.close();
  }

  /** What is gone needs nothing: whoever deals with it looks for himself. */
  private record Offers(Consumer<FailedPod> to) implements SlimWatch.Listener<FailedPod> {
    @Override
    public void replaced(List<FailedPod> all) {
      all.forEach(to);
    }

    @Override
    public void changed(FailedPod pod) {
      to.accept(pod);
    }

    @Override
    public void gone(FailedPod pod) {}
  }
}
