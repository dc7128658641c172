package io.vgpu.agent.measure;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vgpu.agent.kubelet.KubeletCheckpoint;
import io.vgpu.agent.kubelet.KubeletCheckpoint.Holder;
import io.vgpu.runtime.Lane;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which container holds which MIG slice: such pods carry no claim, so only the kubelet knows. Looks
 * every five seconds on lane {@code files}; the answer is for any thread.
 */
public final class MigHolders extends VerticleBase {
  private static final Logger log = LoggerFactory.getLogger(MigHolders.class);
  private static final long INTERVAL_MS = 5000;

  private final KubeletCheckpoint checkpoint;
  private final String prefix;
  private final Lane files;
  private volatile Map<String, Holder> last = Map.of();
  private boolean failing;

  /** {@code prefix}: of the names of MIG resources. */
  public MigHolders(KubeletCheckpoint checkpoint, String prefix, Lane files) {
    this.checkpoint = checkpoint;
    this.prefix = prefix;
    this.files = files;
  }

  /** By slice. */
  public Map<String, Holder> last() {
    return last;
  }

  @Override
  public Future<?> start() {
    look();
    vertx.setPeriodic(INTERVAL_MS, t -> look());
    return Future.succeededFuture();
  }

  private void look() {
    files
        .call(() -> checkpoint.holders(prefix))
        .onComplete(
            read -> {
              if (read.succeeded()) {
                last = Map.copyOf(read.result());
              } else if (!failing) {
                log.warn("holders of MIG slices not read [cause: {}]", read.cause().toString());
              }
              failing = read.failed();
            });
  }
}
