package io.vgpu.agent.inject;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vgpu.runtime.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ImexChannelsTest {
  @TempDir Path root;
  private Path channel;
  private DeviceNodes nodes;

  @BeforeEach
  void aNode() throws IOException {
    channel =
        Files.createDirectories(root.resolve("dev/nvidia-caps-imex-channels")).resolve("channel0");
    nodes = new DeviceNodes(root, Files::exists, MigMinors.NONE);
  }

  @Test
  void aCharacterDeviceIsAChannel() throws IOException {
    Files.createSymbolicLink(channel, Path.of("/dev/null"));
    ImexChannels found = ImexChannels.find(List.of(0), true, nodes);
    assertThat(found.list()).isEqualTo("0");
    assertThat(found.channels().getFirst().node().hostPath()).isEqualTo(channel.toString());
  }

  @Test
  void whatIsMissingIsLeftOutUnlessItIsRequired() throws IOException {
    assertThat(ImexChannels.find(List.of(0), false, nodes)).isEqualTo(ImexChannels.NONE);
    Files.createFile(channel); // there, but no device
    assertThatThrownBy(() -> ImexChannels.find(List.of(0), true, nodes))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("--imex-channel-ids: \"0\" with --imex-required")
        .hasMessageContaining("must be a character device");
  }
}
