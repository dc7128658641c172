package io.vgpu.agent.inject;

import io.vgpu.agent.inject.DeviceNodes.Node;
import io.vgpu.runtime.UsageException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The channels through which containers of several nodes reach each other's memory (node-agent.md
 * 2.8): given to every container with a card, where the node has them.
 */
public record ImexChannels(List<Channel> channels) {
  private static final Logger log = LoggerFactory.getLogger(ImexChannels.class);
  public static final ImexChannels NONE = new ImexChannels(List.of());
  private static final String FOLDER = "/dev/nvidia-caps-imex-channels/channel";

  /** One channel. */
  public record Channel(int id, Node node) {}

  public ImexChannels {
    channels = List.copyOf(channels);
  }

  /**
   * Looks for the wanted ones: a missing one is fatal when they are required ({@link
   * UsageException}), else left out.
   */
  public static ImexChannels find(List<Integer> ids, boolean required, DeviceNodes nodes) {
    List<Channel> found = new ArrayList<>();
    for (int id : ids) {
      List<Node> node = nodes.characterDevice(FOLDER + id);
      if (!node.isEmpty()) {
        found.add(new Channel(id, node.getFirst()));
      } else if (required) {
        throw new UsageException(
            "--imex-channel-ids: \"%d\" with --imex-required: %s%d must be a character device of this node"
                .formatted(id, FOLDER, id));
      } else {
        log.info("IMEX channel is not there [channel: {}]", id);
      }
    }
    return new ImexChannels(found);
  }

  /** Ids, comma-separated. */
  public String list() {
    return channels.stream().map(c -> Integer.toString(c.id())).collect(Collectors.joining(","));
  }
}
