package io.vgpu.agent;

import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.VerticleBase;
import io.vgpu.agent.cgroup.HostProcesses;
import io.vgpu.agent.config.AgentConfig;
import io.vgpu.agent.config.AgentGate;
import io.vgpu.agent.memory.Attribution;
import io.vgpu.agent.memory.ContainerNames;
import io.vgpu.agent.registration.RegisteredProcess;
import io.vgpu.agent.registration.RegisteredProcesses;
import io.vgpu.agent.registration.RegistryVerticle;
import io.vgpu.agent.shim.RegionRounds;
import io.vgpu.runtime.Lane;
import java.io.IOException;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** How processes are attributed to containers, and their registration where the gate is on. */
final class RegistrationWiring {
  private final AgentConfig.Shim config;
  private final boolean on;
  private final HostProcesses processes;
  private final RegisteredProcesses registered;

  private RegistrationWiring(AgentConfig config) {
    this.config = config.shim();
    this.on = config.gates().on(AgentGate.DEVICE_PLUGIN_CLIENT_MODE);
    this.processes = new HostProcesses(config.shim().procRoot());
    this.registered = new RegisteredProcesses(processes::startTime);
  }

  /** Makes the directory that containers get mounted, before the first of them. */
  static RegistrationWiring prepare(AgentConfig config) throws IOException {
    RegistrationWiring wiring = new RegistrationWiring(config);
    if (wiring.on) {
      RegistryVerticle.prepare(config.shim().paths().registry());
    }
    return wiring;
  }

  Attribution attribution(ContainerNames names) {
    return new Attribution(
        config.procRoot(), names, pid -> registered.of(pid).map(RegisteredProcess::owner));
  }

  /** Once the books are open: who registers is looked for in them. */
  void start(
      Consumer<VerticleBase> deploy,
      Supplier<Lane> lane,
      RegionRounds regions,
      ContainerNames names,
      MeterRegistry meters) {
    if (on) {
      deploy.accept(
          new RegistryVerticle(
              config.paths().registry(),
              lane.get(),
              regions,
              processes,
              names,
              registered,
              ProcessHandle.current().pid(),
              RegistryVerticle.GUARD,
              System::nanoTime,
              meters));
    }
  }
}
