package io.vgpu.agent.registration;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.vgpu.agent.shim.Abi;
import io.vgpu.agent.shim.Disk;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The socket that processes in containers register at (node-agent.md 4.2): a file that appears
 * complete or not at all, that takes the place of a predecessor's at once, and that goes only if it
 * is still ours. Its own I/O thread moves bytes; calls of this class block for a few system calls.
 */
final class RegistrySocket implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(RegistrySocket.class);
  private static final String STAGED = ".staged";
  private static final int TYPE = 0170000; // of st_mode
  private static final int TYPE_SOCKET = 0140000;
  private static final int BACKLOG = 1024;
  private static final int MAX_LEFT_OVER = 64;

  /** A file by its number: it is kept from being given to another as long as we listen. */
  private record Inode(Object device, Object number, int mode) {
    static @Nullable Inode at(Path path) {
      try {
        Map<String, Object> a =
            Files.readAttributes(path, "unix:dev,ino,mode", LinkOption.NOFOLLOW_LINKS);
        return new Inode(
            String.valueOf(a.get("dev")),
            String.valueOf(a.get("ino")),
            a.get("mode") instanceof Integer mode ? mode & TYPE : 0);
      } catch (IOException e) {
        return null; // nothing is there
      }
    }

    boolean isSocket() {
      return mode == TYPE_SOCKET;
    }
  }

  private final Path path;
  private final long pid;
  private final Consumer<EpollDomainSocketChannel> accepted;
  private final EventLoopGroup group =
      new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
  private @Nullable Channel listener;
  private @Nullable Inode published;
  private int attempt;
  private boolean strange;

  /**
   * {@code pid}: of this process, so that two do not stage under one name; {@code accepted}: gets
   * each connection on the I/O thread, before anything is read from it.
   */
  RegistrySocket(Path directory, long pid, Consumer<EpollDomainSocketChannel> accepted) {
    this.path = directory.resolve(Abi.REGISTER_SOCKET);
    this.pid = pid;
    this.accepted = accepted;
  }

  /** Makes the directory, which others may enter and not list; one that is there is tightened. */
  static void directory(Path directory) throws IOException {
    try {
      Disk.directory(directory, "rwx--x--x");
    } catch (IOException e) {
      if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
        throw e;
      }
      log.warn("mode not set [directory: {}, cause: {}]", directory, e.toString());
    }
    Set<PosixFilePermission> mode =
        Files.getPosixFilePermissions(directory, LinkOption.NOFOLLOW_LINKS);
    if (mode.contains(PosixFilePermission.GROUP_WRITE)
        || mode.contains(PosixFilePermission.OTHERS_WRITE)) {
      log.error("others can replace the registration socket [directory: {}]", directory);
    }
  }

  /** Listens, in the place of a predecessor. What is there and is no socket is not touched. */
  synchronized void listen() throws IOException {
    Inode there = Inode.at(path);
    if (there != null && !there.isSocket()) {
      throw new IOException(path + ": is there and is no socket");
    }
    if (there != null && answers(path)) {
      log.info("taking over from another agent [socket: {}]", path);
    }
    removeLeftOver();
    publish();
  }

  /** To be called every few seconds: a socket that somebody removed comes back. */
  synchronized void guard() throws IOException {
    Inode there = Inode.at(path);
    if (there == null) {
      log.warn("registration socket is gone, made anew [socket: {}]", path);
      publish();
    } else if (!there.equals(published) && !strange) {
      log.warn("registration socket is another's, left alone [socket: {}]", path);
      strange = true;
    }
  }

  /** Whether the file under the name is ours. */
  synchronized boolean isPublished() {
    Inode mine = published;
    return mine != null && mine.equals(Inode.at(path));
  }

  private void publish() throws IOException {
    Path staged = path.resolveSibling(path.getFileName() + "." + pid + "." + attempt++ + STAGED);
    Files.deleteIfExists(staged);
    ChannelFuture bound =
        new ServerBootstrap()
            .group(group)
            .channel(EpollServerDomainSocketChannel.class)
            .option(ChannelOption.SO_BACKLOG, BACKLOG)
            .childOption(
                ChannelOption.RECVBUF_ALLOCATOR,
                new FixedRecvByteBufAllocator(RegisterFrame.BYTES + 1))
            .childHandler(
                new ChannelInitializer<EpollDomainSocketChannel>() {
                  @Override
                  protected void initChannel(EpollDomainSocketChannel channel) {
                    accepted.accept(channel);
                  }
                })
            .bind(new DomainSocketAddress(staged.toString()))
            .awaitUninterruptibly();
    if (!bound.isSuccess()) {
      throw new IOException(staged + ": cannot listen: " + bound.cause(), bound.cause());
    }
    Channel old = listener;
    listener = bound.channel();
    Files.setPosixFilePermissions(staged, PosixFilePermissions.fromString("rw-rw-rw-"));
    published = Inode.at(staged);
    Files.move(staged, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    strange = false;
    log.info("processes may register [socket: {}]", path);
    if (old != null) {
      old.close().awaitUninterruptibly(1, TimeUnit.SECONDS); // nobody can find it any more
    }
  }

  /** Whether somebody listens; a connect to a unix socket is decided at once. */
  private static boolean answers(Path path) {
    try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      probe.configureBlocking(false);
      return probe.connect(UnixDomainSocketAddress.of(path));
    } catch (IOException e) {
      return false; // an agent that ended
    }
  }

  /** What agents that were killed between bind and rename left behind. */
  private void removeLeftOver() throws IOException {
    int removed = 0;
    try (DirectoryStream<Path> staged =
        Files.newDirectoryStream(path.resolveSibling("."), path.getFileName() + ".*" + STAGED)) {
      for (Path file : staged) {
        Inode there = Inode.at(file);
        if (there != null && there.isSocket() && removed++ < MAX_LEFT_OVER) {
          Files.deleteIfExists(file);
        }
      }
    }
  }

  /** Ends listening and all connections; removes the file if it is still ours. */
  @Override
  public synchronized void close() {
    boolean mine = isPublished(); // asked while we listen, see Inode
    Channel open = listener;
    listener = null;
    published = null;
    if (mine) {
      try {
        Files.deleteIfExists(path);
      } catch (IOException e) {
        log.warn("socket file stays behind [socket: {}, cause: {}]", path, e.toString());
      }
    }
    if (open != null) {
      open.close().awaitUninterruptibly(1, TimeUnit.SECONDS);
    }
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
  }
}
