package io.vgpu.agent.registration;

import io.vertx.core.Future;
import io.vgpu.agent.cgroup.CgroupOwner;
import io.vgpu.agent.cgroup.HostProcess;
import io.vgpu.agent.memory.ContainerNames;
import io.vgpu.agent.memory.SlotOwner;
import io.vgpu.agent.shim.OpenContainer;
import io.vgpu.agent.shim.RegionRounds;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * Decides who a process is (node-agent.md 4.3). The pod is the kernel's word and must be one of our
 * books: who is of no pod, or of one that was given nothing here, is refused and never let pass
 * (13-34). The container is the runtime's word where the pod's status is known, and must then have
 * the process in the slot that it names; where the status is not known yet, the slot alone tells
 * the containers of one pod apart, which only a pod can use against itself. Nothing is asked again:
 * the library has no time to wait for it.
 */
final class Registrar {
  private final RegionRounds regions;
  private final ContainerNames names;
  private final RegisteredProcesses registered;

  /** {@code names}: any thread. */
  Registrar(RegionRounds regions, ContainerNames names, RegisteredProcesses registered) {
    this.regions = regions;
    this.names = names;
    this.registered = registered;
  }

  /** On lane {@code regions}; never fails. */
  Future<Verdict> decide(HostProcess process, RegisterFrame frame) {
    Optional<CgroupOwner> owner = process.owner();
    if (owner.isEmpty()) {
      return Future.succeededFuture(Verdict.UNKNOWN_POD);
    }
    if (frame.pid() != process.innerPid() || frame.startTime() != process.startTime()) {
      return Future.succeededFuture(Verdict.IMPOSTOR);
    }
    return regions.round(all -> among(all, process, owner.get(), frame)).otherwise(Verdict.FAILED);
  }

  private Verdict among(
      Collection<OpenContainer> all, HostProcess process, CgroupOwner owner, RegisterFrame frame) {
    List<OpenContainer> ofPod =
        all.stream().filter(c -> c.owner().podUid().equals(owner.podUid())).toList();
    if (ofPod.isEmpty()) {
      return Verdict.UNKNOWN_POD;
    }
    Optional<String> name = owner.containerId().flatMap(id -> names.nameOf(owner.podUid(), id));
    List<OpenContainer> its =
        ofPod.stream()
            .filter(c -> name.isEmpty() || c.owner().container().equals(name.get()))
            .filter(c -> SlotOwner.is(c, frame.slot(), frame.pid(), frame.startTime()))
            .toList();
    if (its.size() != 1) {
      return Verdict.IMPOSTOR;
    }
    registered.put(
        new RegisteredProcess(
            process.pid(), process.startTime(), its.getFirst().owner(), frame.slot()));
    return Verdict.REGISTERED;
  }
}
