package io.vgpu.agent.registration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vgpu.agent.shim.Abi;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whose the file is at every moment (node-agent.md 4.2, 14). */
class RegistrySocketTest {
  @TempDir Path root;
  private Path directory;
  private Path path;

  @BeforeEach
  void prepare() throws IOException {
    directory = root.resolve("registry");
    path = directory.resolve(Abi.REGISTER_SOCKET);
    RegistrySocket.directory(directory);
  }

  /** A socket, and how often somebody came to it. */
  private final class Agent implements AutoCloseable {
    final Semaphore came = new Semaphore(0);
    final RegistrySocket socket;

    Agent(long pid) {
      socket = new RegistrySocket(directory, pid, channel -> came.release());
    }

    @Override
    public void close() {
      socket.close();
    }
  }

  private void assertReaches(Agent agent) throws Exception {
    try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
      assertThat(channel.isConnected()).isTrue();
      assertThat(agent.came.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void othersMayEnterAndConnectAndNothingElse() throws Exception {
    try (Agent agent = new Agent(1)) {
      agent.socket.listen();
      assertThat(mode(directory)).isEqualTo("rwx--x--x");
      assertThat(mode(path)).isEqualTo("rw-rw-rw-");
      assertReaches(agent);
    }
    assertThat(path).doesNotExist();
    assertThat(directory).isEmptyDirectory();
  }

  private static String mode(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }

  /** 13-38. */
  @Test
  void aDirectoryThatOthersCanWriteIsTightened() throws Exception {
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
    RegistrySocket.directory(directory);
    assertThat(mode(directory)).isEqualTo("rwx--x--x");
  }

  @Test
  void whatIsNoSocketIsNotReplaced() throws Exception {
    try (Agent agent = new Agent(1)) {
      Files.writeString(path, "somebody's");
      assertThatThrownBy(agent.socket::listen).hasMessageContaining("is no socket");
      assertThat(path).hasContent("somebody's");
      Files.delete(path);
      Files.createSymbolicLink(path, root.resolve("elsewhere"));
      assertThatThrownBy(agent.socket::listen).hasMessageContaining("is no socket");
      Files.delete(path);
      Files.createDirectory(path);
      assertThatThrownBy(agent.socket::listen).hasMessageContaining("is no socket");
    }
    assertThat(path).isDirectory();
  }

  @Test
  void aLivePredecessorIsTakenOverAndDoesNotTakeBack() throws Exception {
    try (Agent second = new Agent(2)) {
      try (Agent first = new Agent(1)) {
        first.socket.listen();
        second.socket.listen();
        assertReaches(second);
        first.socket.guard();
        assertThat(first.socket.isPublished()).as("a stranger's is left alone").isFalse();
        assertReaches(second);
      }
      assertReaches(second); // the first one's end did not remove it
    }
  }

  @Test
  void whatADeadAgentLeftIsReplaced() throws Exception {
    try (ServerSocketChannel dead = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      dead.bind(UnixDomainSocketAddress.of(path));
    }
    Path staged = directory.resolve(Abi.REGISTER_SOCKET + ".17.0.staged");
    try (ServerSocketChannel dead = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      dead.bind(UnixDomainSocketAddress.of(staged));
    }
    try (Agent agent = new Agent(1)) {
      agent.socket.listen();
      assertReaches(agent);
      try (Stream<Path> files = Files.list(directory)) {
        assertThat(files).containsExactly(path);
      }
    }
  }

  @Test
  void aSocketThatIsGoneIsMadeAnewAsOftenAsNeeded() throws Exception {
    try (Agent agent = new Agent(1)) {
      agent.socket.listen();
      for (int i = 0; i < 3; i++) {
        Files.delete(path);
        agent.socket.guard();
        assertReaches(agent);
        assertThat(agent.socket.isPublished()).isTrue();
      }
    }
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void aForeignFileStaysAtTheEnd() throws Exception {
    try (Agent agent = new Agent(1)) {
      agent.socket.listen();
      Files.delete(path);
      Files.writeString(path, "somebody's");
    }
    assertThat(path).hasContent("somebody's");
  }
}
