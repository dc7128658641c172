package io.vgpu.agent.kubelet;

import io.grpc.BindableService;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves gRPC services to the kubelet on a unix socket, by grpc-netty, because every kubelet must
 * be accepted whatever {@code :authority} it sends (architecture.md 13.1, docs/adr/0002).
 *
 * <p>The file appears complete or not at all: bound under another name, made 0600, then renamed.
 * Calls of this class block for the time of a few system calls; services run on {@code executor}.
 */
public final class KubeletSocket {
  private static final Logger log = LoggerFactory.getLogger(KubeletSocket.class);

  private final KubeletTransport transport;
  private final Path path;
  private final List<BindableService> services;
  private final Executor executor;
  private @Nullable Server server;
  private @Nullable Path bound;
  private @Nullable SocketFile published;

  /** {@code path}: the kubelet dials it by base name, in the folder of its own socket. */
  public KubeletSocket(
      KubeletTransport transport, Path path, List<BindableService> services, Executor executor) {
    this.transport = transport;
    this.path = path;
    this.services = List.copyOf(services);
    this.executor = executor;
  }

  /**
   * Listens under a name of our own, so that {@link #listen} has only to rename: beside an agent
   * that still serves. Returns that name.
   */
  public synchronized Path prepare() throws IOException {
    end(Duration.ZERO); // nobody can reach the old one any more: its end need not be waited for
    // another name each time, and no other process's: a server removes its first name when it ends
    String own = Long.toHexString(ThreadLocalRandom.current().nextLong());
    Path fresh = path.resolveSibling("." + path.getFileName() + "." + own);
    NettyServerBuilder builder =
        NettyServerBuilder.forAddress(new DomainSocketAddress(fresh.toString()))
            .bossEventLoopGroup(transport.group())
            .workerEventLoopGroup(transport.group())
            .channelType(EpollServerDomainSocketChannel.class)
            .maxInboundMessageSize(KubeletTransport.MAX_MESSAGE)
            .executor(executor);
    services.forEach(builder::addService);
    Server started = builder.build().start();
    server = started;
    Files.setPosixFilePermissions(fresh, PosixFilePermissions.fromString("rw-------"));
    bound = fresh;
    return fresh;
  }

  /**
   * Listens, replacing whatever an earlier process left under the name. A server of ours that still
   * runs is ended first, unless it is only prepared: its file is gone, nobody can reach it any
   * more.
   */
  public synchronized void listen() throws IOException {
    Path ready = bound;
    if (ready == null || !Files.exists(ready)) { // a kubelet that starts removes every socket
      ready = prepare();
    }
    bound = null;
    Files.move(ready, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    published = SocketFile.of(path);
    removeUnused();
    log.info("serving the kubelet [socket: {}]", path);
  }

  /** Whether another process listens under our name: an agent that knows no hand-over. */
  public boolean isAnotherServing() {
    if (isPublished()) {
      return false;
    }
    return DeadSockets.answers(path);
  }

  /** What agents left that were killed while they were prepared. */
  private void removeUnused() throws IOException {
    try (DirectoryStream<Path> left =
        Files.newDirectoryStream(path.resolveSibling(""), "." + path.getFileName() + ".*")) {
      for (Path p : left) {
        Files.deleteIfExists(p); // an agent that waits behind us makes itself another
      }
    }
  }

  /**
   * Whether the kubelet still finds our socket under the name: it removes every socket at its
   * start.
   */
  public synchronized boolean isPublished() {
    SocketFile mine = published;
    return mine != null && mine.equals(SocketFile.of(path));
  }

  /** The file's base name, which is what the kubelet is told. */
  public String endpoint() {
    return String.valueOf(path.getFileName());
  }

  /** Ends calls and listening, and removes the file if it is still ours. */
  public synchronized void close() {
    boolean mine = isPublished();
    end(Duration.ofSeconds(1));
    if (mine) {
      remove(path);
    }
  }

  private static void remove(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      log.warn("socket file stays behind [socket: {}, cause: {}]", file, e.toString());
    }
  }

  private void end(Duration wait) {
    Server running = server;
    Path unused = bound;
    server = null;
    bound = null;
    published = null;
    if (unused != null) {
      remove(unused);
    }
    if (running == null) {
      return;
    }
    running.shutdownNow();
    try {
      if (wait.isPositive() && !running.awaitTermination(wait.toMillis(), TimeUnit.MILLISECONDS)) {
        log.warn("calls still run on a socket that is closed [socket: {}]", path);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
