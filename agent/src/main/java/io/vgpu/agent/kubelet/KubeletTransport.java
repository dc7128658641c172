package io.vgpu.agent.kubelet;

import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.unix.DomainSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * The one I/O thread of everything that speaks gRPC with the kubelet over unix sockets. It only
 * moves bytes: services and callers run elsewhere.
 */
public final class KubeletTransport implements AutoCloseable {
  /** A node's whole pod-resources answer; Vert.x and grpc-java would stop at 4 MiB and less. */
  public static final int MAX_MESSAGE = 16 << 20;

  /** What the kubelet takes in one message: its client keeps gRPC's default. */
  public static final int KUBELET_MAX_MESSAGE = 4 << 20;

  private final EventLoopGroup group =
      new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());

  /** The epoll group for servers. */
  EventLoopGroup group() {
    return group;
  }

  /** A channel to a unix socket; connects at the first call. The caller shuts it down. */
  public ManagedChannel channel(Path socket) {
    return NettyChannelBuilder.forAddress(new DomainSocketAddress(socket.toString()))
        .eventLoopGroup(group)
        .channelType(EpollDomainSocketChannel.class)
        .usePlaintext()
        .overrideAuthority("localhost")
        .maxInboundMessageSize(MAX_MESSAGE)
        .build();
  }

  /** Ends the I/O thread within a second. */
  @Override
  public void close() {
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
  }
}
