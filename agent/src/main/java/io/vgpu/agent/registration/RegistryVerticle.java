package io.vgpu.agent.registration;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.channel.Channel;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vgpu.agent.cgroup.HostProcess;
import io.vgpu.agent.cgroup.HostProcesses;
import io.vgpu.agent.memory.ContainerNames;
import io.vgpu.agent.metrics.AgentMeters;
import io.vgpu.agent.shim.RegionRounds;
import io.vgpu.runtime.Lane;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registration of containers' processes, behind gate {@code DevicePluginClientMode} (node-agent.md
 * 4): the socket, kept where it must be, and the list, kept to those who live. Files are looked at
 * on a lane of its own, so that no tenant can hold up Allocate's.
 */
public final class RegistryVerticle extends VerticleBase {
  private static final Logger log = LoggerFactory.getLogger(RegistryVerticle.class);

  /** How often a socket that is gone is looked for. */
  public static final Duration GUARD = Duration.ofSeconds(5);

  private static final long SWEEP_MS = 1000;

  private final Lane lane;
  private final RegisteredProcesses registered;
  private final Registrar registrar;
  private final RegistrySocket socket;
  private final Duration guard;
  private final LongSupplier nanoTime;
  private final MeterRegistry meters;
  private final Crowding crowding = new Crowding(); // the I/O thread's
  private final Seldom seldom = new Seldom(); // likewise

  /**
   * {@code directory}: made by {@link #prepare}; {@code lane}: nobody else's; {@code names}: any
   * thread; {@code pid}: of this process.
   */
  public RegistryVerticle(
      Path directory,
      Lane lane,
      RegionRounds regions,
      HostProcesses processes,
      ContainerNames names,
      RegisteredProcesses registered,
      long pid,
      Duration guard,
      LongSupplier nanoTime,
      MeterRegistry meters) {
    this.lane = lane;
    this.registered = registered;
    this.registrar = new Registrar(regions, names, registered);
    this.guard = guard;
    this.nanoTime = nanoTime;
    this.meters = meters;
    Connection.Desk desk =
        new Connection.Desk() {
          @Override
          public Future<Optional<HostProcess>> look(int hostPid) {
            return lane.call(() -> processes.look(hostPid));
          }

          @Override
          public Future<Verdict> decide(HostProcess process, RegisterFrame frame) {
            return registrar.decide(process, frame);
          }

          @Override
          public int peer(Channel channel) {
            try {
              return channel instanceof EpollDomainSocketChannel socket
                  ? socket.peerCredentials().pid()
                  : 0;
            } catch (IOException e) {
              return 0; // it has gone
            }
          }
        };
    this.socket =
        new RegistrySocket(
            directory,
            pid,
            channel -> channel.pipeline().addLast(new Connection(desk, crowding, this::tell)));
    Gauge.builder(
            AgentMeters.REGISTERED_PROCESSES.exposedName(), registered, RegisteredProcesses::size)
        .description(AgentMeters.REGISTERED_PROCESSES.meaning())
        .register(meters);
  }

  /** Before the first container is given the directory. Blocks for moments. */
  public static void prepare(Path directory) throws IOException {
    RegistrySocket.directory(directory);
  }

  @Override
  public Future<?> start() {
    return lane.call(
            () -> {
              socket.listen();
              return true;
            })
        .onSuccess(
            v -> {
              vertx.setTimer(guard.toMillis(), t -> guard());
              vertx.setTimer(SWEEP_MS, t -> sweep());
            });
  }

  @Override
  public Future<?> stop() {
    return lane.call(
        () -> {
          socket.close();
          return true;
        });
  }

  private void guard() {
    lane.call(
            () -> {
              socket.guard();
              return true;
            })
        .onFailure(e -> log.warn("registration socket not made [cause: {}]", e.toString()))
        .onComplete(done -> vertx.setTimer(guard.toMillis(), t -> guard()));
  }

  private void sweep() {
    lane.call(
            () -> {
              registered.sweep();
              return true;
            })
        .onComplete(done -> vertx.setTimer(SWEEP_MS, t -> sweep()));
  }

  private void tell(Verdict verdict) {
    AgentMeters.REGISTRATIONS_ASKED.counter(meters, verdict.label()).increment();
    if (seldom.due(verdict, nanoTime.getAsLong())) {
      log.warn(
          "a process was not registered; more of this kind in the next minute are only counted [why: {}]",
          verdict.label());
    }
  }
}
