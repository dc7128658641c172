package io.vgpu.control.simulate;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.vgpu.claim.Names;
import io.vgpu.control.cluster.NodeOffer;
import io.vgpu.control.cluster.NodeRecord;
import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.kube.SlimRecords;
import io.vgpu.control.packing.Shape;
import io.vgpu.control.packing.Shapes;
import io.vgpu.model.DemandCheck;
import io.vgpu.model.Reason;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Reads a cluster and its pods as {@code kubectl get … -o yaml} prints them, each field with the
 * line that it stands on. Pods of DaemonSets are left out: they are no part of what is placed.
 */
final class KubeYaml {
  private final SlimRecords slim;

  KubeYaml(Names names) {
    this.slim = new SlimRecords(names, true);
  }

  /** All nodes, empty. */
  List<NodeView> nodes(Path file) {
    List<NodeView> nodes = new ArrayList<>();
    Set<String> seen = new HashSet<>();
    for (YamlTree tree : YamlTree.objects(file)) {
      expect(tree, "Node");
      NodeRecord record = slim.node(node(tree));
      if (!seen.add(record.name())) {
        throw tree.wrong("two nodes are called " + record.name());
      }
      NodeView view = NodeView.empty(record, 0);
      if (view.offer() instanceof NodeOffer.NotOffered no && damaged(no.reason())) {
        YamlTree at = tree.at("metadata", "annotations").orElse(tree);
        throw at.wrong("node " + record.name() + ": " + no.reason().phrase() + " " + no.detail());
      }
      nodes.add(view);
    }
    return nodes;
  }

  /** A node without cards is a node; one whose cards cannot be read is a mistake. */
  private static boolean damaged(Reason reason) {
    return reason == Reason.NODE_BAD_VGPU_REGISTER
        || reason == Reason.NODE_BAD_VGPU_CONFIG
        || reason == Reason.NODE_BAD_MEMORY_FACTOR;
  }

  /**
   * All pods that a scheduler places, by namespace and name.
   *
   * @param shapes says what share of a card a pod asks for
   */
  List<SimPod> pods(Path file, Shapes shapes) {
    List<SimPod> pods = new ArrayList<>();
    Map<PodRequest, Integer> kinds = new LinkedHashMap<>();
    for (YamlTree tree : YamlTree.objects(file)) {
      expect(tree, "Pod");
      if (ofDaemonSet(tree)) {
        continue;
      }
      PodRequest request = slim.pod(pod(tree)).request();
      Optional<String> breach = DemandCheck.firstBreach(request.demand());
      if (breach.isPresent()) {
        throw tree.at("spec").orElse(tree).wrong(breach.get());
      }
      Shape shape = shapes.of(request);
      int kind = kinds.computeIfAbsent(request.nameless(), k -> kinds.size());
      pods.add(new SimPod(request, kind, shape.share(), shape.count()));
    }
    pods.sort(
        Comparator.<SimPod, String>comparing(p -> p.request().pod().namespace())
            .thenComparing(p -> p.request().pod().name()));
    return pods;
  }

  private static void expect(YamlTree tree, String kind) {
    String found = tree.text("kind").orElse("");
    if (!found.equals(kind)) {
      throw tree.child("kind").orElse(tree).wrong("must be " + kind);
    }
  }

  private static boolean ofDaemonSet(YamlTree pod) {
    return pod.at("metadata", "ownerReferences").map(YamlTree::items).orElse(List.of()).stream()
        .anyMatch(owner -> owner.text("kind").orElse("").equals("DaemonSet"));
  }

  private static Node node(YamlTree tree) {
    YamlTree meta = needed(tree, "metadata");
    return new NodeBuilder()
        .withNewMetadata()
        .withName(needed(meta, "name").text())
        .withAnnotations(texts(meta.child("annotations")))
        .endMetadata()
        .withNewStatus()
        .withAllocatable(quantities(tree.at("status", "allocatable")))
        .endStatus()
        .build();
  }

  private static Pod pod(YamlTree tree) {
    YamlTree meta = needed(tree, "metadata");
    YamlTree spec = needed(tree, "spec");
    String name = needed(meta, "name").text();
    return new PodBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace(meta.text("namespace").orElse("default"))
        .withUid(meta.text("uid").orElse(name))
        .withAnnotations(texts(meta.child("annotations")))
        .endMetadata()
        .withNewSpec()
        .withInitContainers(containers(spec.child("initContainers")))
        .withContainers(containers(Optional.of(needed(spec, "containers"))))
        .withOverhead(quantities(spec.child("overhead")))
        .endSpec()
        .build();
  }

  private static List<Container> containers(Optional<YamlTree> list) {
    List<Container> containers = new ArrayList<>();
    for (YamlTree tree : list.map(YamlTree::items).orElse(List.of())) {
      containers.add(
          new ContainerBuilder()
              .withName(needed(tree, "name").text())
              .withRestartPolicy(tree.text("restartPolicy").orElse(null))
              .withNewResources()
              .withRequests(quantities(tree.at("resources", "requests")))
              .withLimits(quantities(tree.at("resources", "limits")))
              .endResources()
              .build());
    }
    return containers;
  }

  private static YamlTree needed(YamlTree tree, String name) {
    return tree.child(name).orElseThrow(() -> tree.wrong("has no " + name));
  }

  private static Map<String, String> texts(Optional<YamlTree> mapping) {
    Map<String, String> texts = new LinkedHashMap<>();
    mapping.ifPresent(m -> m.children().forEach((key, value) -> texts.put(key, value.text())));
    return texts;
  }

  private static Map<String, Quantity> quantities(Optional<YamlTree> mapping) {
    Map<String, Quantity> quantities = new LinkedHashMap<>();
    mapping.ifPresent(
        m -> m.children().forEach((key, value) -> quantities.put(key, quantity(value))));
    return quantities;
  }

  private static Quantity quantity(YamlTree value) {
    String text = value.text();
    if (!text.matches("[+-]?[0-9.]{1,40}([eE][+-]?[0-9]{1,2}|[numkMGTPE]i?)?")) {
      throw value.wrong("must be a quantity");
    }
    try {
      Quantity quantity = new Quantity(text);
      quantity.getNumericalAmount();
      return quantity;
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw value.wrong("must be a quantity");
    }
  }
}
