package io.vgpu.e2e.state;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A TCP proxy on loopback whose connections can be cut, or made to hang as a broken network path
 * does: nothing arrives any more and nobody is told. What runs inside (TLS) it does not see.
 */
final class CutProxy implements AutoCloseable {
  private final ServerSocket server;
  private final String host;
  private final int target;
  private final List<Link> links = new CopyOnWriteArrayList<>();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private volatile boolean refusing;

  /** One connection through it. */
  private record Link(Socket client, Socket upstream, State state) {
    void close() {
      closeQuietly(client);
      closeQuietly(upstream);
    }
  }

  private static final class State {
    volatile boolean hangs;
  }

  CutProxy(String host, int target) {
    this.host = host;
    this.target = target;
    try {
      server = new ServerSocket(0, 128, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException("no free port", e);
    }
    threads.execute(this::accept);
  }

  String url() {
    return "https://127.0.0.1:" + server.getLocalPort();
  }

  /** Closes every connection and takes no new one, until {@link #mend}. */
  void cut() {
    refusing = true;
    links.forEach(Link::close);
    links.clear();
  }

  /**
   * Connections pass again; those that hang are closed, as when a path comes back after a reboot.
   */
  void mend() {
    refusing = false;
    links.stream().filter(l -> l.state().hangs).forEach(Link::close);
  }

  /**
   * What the server says on the present connections never arrives, and a client that says something
   * on one is cut off. New connections are as good as ever.
   */
  void hang() {
    links.forEach(l -> l.state().hangs = true);
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket client = server.accept();
        if (refusing) {
          closeQuietly(client);
          continue;
        }
        Socket upstream = new Socket();
        upstream.connect(new InetSocketAddress(host, target), 2_000);
        Link link = new Link(client, upstream, new State());
        links.add(link);
        threads.execute(() -> pump(link, client, upstream, true));
        threads.execute(() -> pump(link, upstream, client, false));
      } catch (IOException e) {
        // a client that went, an API server that restarts: the next connection may do better
      }
    }
  }

  private void pump(Link link, Socket from, Socket to, boolean fromClient) {
    byte[] buffer = new byte[16 * 1024];
    try (InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream()) {
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        if (link.state().hangs) {
          if (fromClient) {
            break;
          }
          continue; // swallowed
        }
        out.write(buffer, 0, n);
      }
    } catch (IOException e) {
      // either side closed: the link ends below
    }
    link.close();
    links.remove(link);
  }

  private static void closeQuietly(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // it is of no use any more, closed or not
    }
  }

  @Override
  public void close() {
    try {
      server.close();
    } catch (IOException e) {
      throw new UncheckedIOException("proxy does not end", e);
    }
    cut();
    threads.shutdownNow();
  }
}
