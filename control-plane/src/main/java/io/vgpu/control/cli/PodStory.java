package io.vgpu.control.cli;

import io.vgpu.claim.ClaimCodec;
import io.vgpu.claim.FormatException;
import io.vgpu.claim.Names;
import io.vgpu.control.cli.kube.PodFacts;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.ContainerDemand;
import io.vgpu.model.DeviceClaim;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A pod's way so far, one line a fact. Pure. It says what is written, and never guesses why. */
final class PodStory {
  private PodStory() {}

  static List<String> lines(PodFacts pod, Names names) {
    List<String> lines = new ArrayList<>();
    lines.add("pod        " + pod.namespace() + "/" + pod.name() + " (" + pod.uid() + ")");
    for (ContainerDemand c : pod.demand().vgpuContainers()) {
      lines.add(
          "asks       "
              + c.name()
              + ": "
              + c.number()
              + " card(s), cores "
              + (c.cores() == 0 ? "-" : c.cores() + " %")
              + ", memory "
              + (c.memory() == 0 ? "-" : c.memory()));
    }
    if (!pod.demand().asksForVgpu()) {
      lines.add("asks       no container asks for " + names.vgpuNumber());
    }
    lines.add("scheduler  " + orNone(pod.scheduler()));
    lines.add("node       " + (pod.node().isEmpty() ? "not bound" : pod.node()));
    claim(lines, "claim", pod.annotations().get(names.preAllocated()));
    if (pod.annotations().containsKey(names.realAllocated())) {
      claim(lines, "given", pod.annotations().get(names.realAllocated()));
    }
    lines.add("allocated  " + orNone(pod.labels().getOrDefault(names.assignedPhase(), "")));
    lines.add("phase      " + status(pod));
    String replaces = pod.annotations().get(Names.REPLACES);
    if (replaces != null) {
      lines.add("replaces   pod " + replaces + ", which had to go");
    }
    pod.events().stream()
        .sorted(Comparator.comparing(PodFacts.PodEvent::at))
        .forEach(
            e ->
                lines.add(
                    "event      "
                        + e.at()
                        + " "
                        + e.source()
                        + " "
                        + e.reason()
                        + ": "
                        + e.message()));
    return lines;
  }

  private static void claim(List<String> lines, String word, @Nullable String text) {
    String head = String.format("%-11s", word);
    if (text == null || text.isEmpty()) {
      lines.add(head + "none");
      return;
    }
    try {
      for (ContainerClaim container : ClaimCodec.decode(text).containers()) {
        for (DeviceClaim d : container.devices()) {
          lines.add(
              head
                  + container.container()
                  + ": card "
                  + d.index()
                  + " "
                  + d.uuid()
                  + ", cores "
                  + d.cores().value()
                  + " %, memory "
                  + d.memory());
        }
      }
    } catch (FormatException e) {
      lines.add(head + "cannot be read: " + e.getMessage());
    }
  }

  private static String status(PodFacts pod) {
    String status = orNone(pod.phase());
    if (!pod.reason().isEmpty()) {
      status += ", " + pod.reason();
    }
    return pod.message().isEmpty() ? status : status + ": " + pod.message();
  }

  private static String orNone(String text) {
    return text.isEmpty() ? "none" : text;
  }
}
