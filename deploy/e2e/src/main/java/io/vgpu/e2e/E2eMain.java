package io.vgpu.e2e;

import io.vgpu.agent.AgentMain;
import io.vgpu.e2e.burst.BurstMain;
import io.vgpu.e2e.burst.UpgradeMain;
import io.vgpu.e2e.cluster.ClusterException;
import io.vgpu.e2e.cluster.ClusterMain;
import io.vgpu.e2e.cluster.ImagesMain;
import io.vgpu.e2e.demo.DemoMain;
import io.vgpu.e2e.demo.Tampering;
import io.vgpu.e2e.faults.SoakMain;
import io.vgpu.e2e.product.PodWayBench;
import io.vgpu.e2e.scale.SchedulerScaleBench;
import io.vgpu.runtime.Cli;
import io.vgpu.runtime.Logging;
import java.util.Arrays;
import picocli.CommandLine.Command;

/** What {@code make} calls: the cluster, the demo, the burst. */
@Command(
    name = "vgpu-e2e",
    description = "The real cluster and what is shown on it.",
    mixinStandardHelpOptions = true,
    subcommands = {
      ClusterMain.class,
      DemoMain.class,
      PodWayBench.class,
      SchedulerScaleBench.class,
      BurstMain.class,
      UpgradeMain.class,
      SoakMain.class,
      ImagesMain.class
    })
public final class E2eMain {
  private E2eMain() {}

  public static void main(String[] args) {
    if (args.length >= 2 && args[0].equals("tampering-agent")) {
      // the real agent with one answer changed on purpose; all that follows is its own command line
      String[] rest = Arrays.copyOfRange(args, 2, args.length);
      System.exit(AgentMain.run(Tampering.of(args[1]), rest));
    }
    Logging.configure(0);
    System.exit(Cli.run(new E2eMain(), ClusterException.class, args));
  }
}
