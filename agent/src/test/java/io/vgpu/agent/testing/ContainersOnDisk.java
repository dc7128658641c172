package io.vgpu.agent.testing;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vgpu.agent.shim.Abi;
import io.vgpu.agent.shim.DeviceLimits;
import io.vgpu.agent.shim.ShimPaths;
import io.vgpu.agent.shim.ShimVerticle;
import io.vgpu.model.ContainerRef;
import io.vgpu.model.PodRef;
import io.vgpu.runtime.Lane;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Containers' files in a temporary folder and the agent's lanes over them: what a test writes in a
 * container's place, the agent reads, and the other way round.
 */
public final class ContainersOnDisk {
  private final Vertx vertx = Vertx.vertx();
  private final PrometheusMeterRegistry meters =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final ShimPaths paths;
  private final ShimVerticle shim;

  /** {@code root}: an empty folder. */
  public ContainersOnDisk(Path root) throws Exception {
    paths =
        new ShimPaths(
            Files.createDirectory(root.resolve("M")),
            Path.of("/host"),
            Files.createDirectory(root.resolve("T")));
    shim = new ShimVerticle(paths, 1, lane("files"), lane("regions"), Clock.systemUTC(), f -> {});
    await(vertx.deployVerticle(shim));
  }

  /** A lane more. */
  public Lane lane(String name) {
    return new Lane(vertx, name, 64, Duration.ofSeconds(5), meters);
  }

  public Vertx vertx() {
    return vertx;
  }

  public ShimVerticle shim() {
    return shim;
  }

  public PrometheusMeterRegistry meters() {
    return meters;
  }

  /** What came of it, within a bound. */
  public static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  /** Makes the files of a container and attaches them. */
  public OnDisk attach(ContainerRef container, DeviceLimits... cards) throws Exception {
    await(shim.attach(container, List.of(cards)));
    return new OnDisk(container.pod(), container.container());
  }

  /** Ends all that runs. */
  public void close() throws Exception {
    await(vertx.close());
  }

  /** One container's files, as its library sees them. */
  public final class OnDisk {
    private final String directory;

    private OnDisk(PodRef pod, String container) {
      this.directory = pod.uid() + "_" + container;
    }

    /** Its {@code usage}. */
    public Path usage() {
      return paths.usageDir().resolve(directory).resolve(Abi.USAGE_FILE);
    }

    /**
     * The folder as the container has it, by links to the same files; for programs that are told of
     * it by {@code CUDA_SHIM_CONFIG_DIR}.
     */
    public Path mountedInto(Path folder) throws IOException {
      Files.createDirectory(folder);
      Path config = paths.managerDir().resolve(directory);
      Path written = paths.usageDir().resolve(directory);
      Files.createLink(folder.resolve(Abi.LIMITS_FILE), config.resolve(Abi.LIMITS_FILE));
      Files.createLink(folder.resolve(Abi.LOAD_FILE), config.resolve(Abi.LOAD_FILE));
      Files.createLink(folder.resolve(Abi.USAGE_FILE), written.resolve(Abi.USAGE_FILE));
      Files.createLink(folder.resolve(Abi.USAGE_LOCK_FILE), written.resolve(Abi.USAGE_LOCK_FILE));
      return folder;
    }

    /** Writes a number of so many bytes into {@code usage}. */
    public void usage(long at, long value, int bytes) throws IOException {
      ByteBuffer word = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(0, value);
      try (FileChannel out = FileChannel.open(usage(), StandardOpenOption.WRITE)) {
        out.write(word.limit(bytes), at);
      }
    }

    /** One card's entry of {@code load}. */
    public ByteBuffer load(int device) throws IOException {
      byte[] all = Files.readAllBytes(paths.managerDir().resolve(directory).resolve(Abi.LOAD_FILE));
      return ByteBuffer.wrap(all, Abi.Load.DEVICES + device * Abi.LOAD_STRIDE, Abi.LOAD_STRIDE)
          .slice()
          .order(ByteOrder.LITTLE_ENDIAN);
    }
  }
}
