package io.vgpu.agent.gpu.nvml;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import io.vgpu.model.NodeTopology;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** How the cards of a node reach each other (node-agent.md 1.6). */
final class NvmlLinks {
  private static final int ONE_NVLINK = 7;
  private final NvmlLibrary nvml;

  NvmlLinks(NvmlLibrary nvml) {
    this.nvml = nvml;
  }

  /** The enabled NVLinks of a card: how many end at each bus id, and how many at a switch. */
  private record Links(Map<String, Integer> byPeer, int toSwitches) {}

  NodeTopology topology(List<NvmlCards.Found> cards) {
    Map<Integer, Links> links = new HashMap<>();
    cards.forEach(c -> links.put(c.gpu().index(), links(c.handle())));
    SortedMap<Integer, SortedMap<Integer, List<Integer>>> all = new TreeMap<>();
    for (NvmlCards.Found a : cards) {
      SortedMap<Integer, List<Integer>> peers = new TreeMap<>();
      for (NvmlCards.Found b : cards) {
        if (a.gpu().index() != b.gpu().index()) {
          List<Integer> types = new ArrayList<>();
          level(a.handle(), b.handle()).ifPresent(types::add);
          int width = width(a, b, links);
          if (width > 0) {
            types.add(Math.min(ONE_NVLINK - 1 + width, NodeTopology.MAX_LINK_TYPE));
          }
          if (!types.isEmpty()) {
            peers.put(b.gpu().index(), types);
          }
        }
      }
      all.put(a.gpu().index(), peers);
    }
    return new NodeTopology(all);
  }

  private static int width(NvmlCards.Found a, NvmlCards.Found b, Map<Integer, Links> links) {
    Links ofA = links.getOrDefault(a.gpu().index(), new Links(Map.of(), 0));
    Links ofB = links.getOrDefault(b.gpu().index(), new Links(Map.of(), 0));
    int direct = ofA.byPeer().getOrDefault(b.gpu().busId(), 0);
    return direct > 0 ? direct : Math.min(ofA.toSwitches(), ofB.toSwitches());
  }

  /** NVML's common ancestor as our link type; unknown levels and refusals are no link. */
  private Optional<Integer> level(Pointer a, Pointer b) {
    IntByReference level = new IntByReference();
    if (nvml.code(NvmlCall.COMMON_ANCESTOR, a, b, level) != NvmlLibrary.SUCCESS) {
      return Optional.empty();
    }
    return switch (level.getValue()) {
      case 0 -> Optional.of(6); // same board
      case 10 -> Optional.of(5); // one PCIe switch
      case 20 -> Optional.of(4); // several PCIe switches
      case 30 -> Optional.of(3); // host bridge
      case 40 -> Optional.of(2); // same CPU
      case 50 -> Optional.of(1); // across CPUs
      default -> Optional.empty();
    };
  }

  private Links links(Pointer card) {
    Map<String, Integer> byPeer = new HashMap<>();
    int toSwitches = 0;
    for (int link = 0; link < NvmlStructs.MAX_LINKS; link++) {
      IntByReference state = new IntByReference();
      if (nvml.code(NvmlCall.NVLINK_STATE, card, link, state) != NvmlLibrary.SUCCESS
          || state.getValue() != 1) {
        continue; // not supported, no such link, lost, or off
      }
      IntByReference type = new IntByReference();
      if (nvml.code(NvmlCall.NVLINK_REMOTE_TYPE, card, link, type) == NvmlLibrary.SUCCESS
          && type.getValue() == NvmlStructs.REMOTE_SWITCH) {
        toSwitches++;
        continue;
      }
      Memory pci = NvmlLibrary.zeroed(NvmlStructs.PCI_BYTES);
      if (nvml.code(NvmlCall.NVLINK_REMOTE_PCI, card, link, pci) == NvmlLibrary.SUCCESS) {
        byPeer.merge(NvmlCards.busId(pci), 1, Integer::sum);
      }
    }
    return new Links(Map.copyOf(byPeer), toSwitches);
  }
}
