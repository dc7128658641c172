package io.vgpu.agent.memory;

import io.vgpu.agent.cgroup.CgroupOwner;
import io.vgpu.agent.cgroup.CgroupPids;
import io.vgpu.agent.cgroup.HostProcess;
import io.vgpu.agent.cgroup.HostProcesses;
import io.vgpu.agent.shim.ShimWriter.Owner;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Finds the container of a process that the driver lists: the one that it registered as; else the
 * one that its cgroup names and the pod's status knows; else, where the status comes later than the
 * process, the pod alone, with what the process is within, to be looked for in its containers'
 * slots. Any thread; reads small files of the kernel's.
 */
public final class Attribution {
  /** The processes that registered; none where the gate is off. Any thread. */
  @FunctionalInterface
  public interface Registered {
    /** The container of a pid of the host. */
    Optional<Owner> of(int hostPid);
  }

  /**
   * Whose a process is.
   *
   * @param container empty while the pod's status does not know it
   * @param inside what is known instead, then
   */
  record Whose(String podUid, Optional<String> container, Optional<HostProcess> inside) {
    static Whose named(String podUid, String container) {
      return new Whose(podUid, Optional.of(container), Optional.empty());
    }
  }

  private final CgroupPids cgroups;
  private final HostProcesses processes;
  private final ContainerNames names;
  private final Registered registered;

  /** {@code procRoot}: processes of the host, as the driver counts them. */
  public Attribution(Path procRoot, ContainerNames names, Registered registered) {
    this.cgroups = new CgroupPids(procRoot);
    this.processes = new HostProcesses(procRoot);
    this.names = names;
    this.registered = registered;
  }

  /** Empty: no pod's, or it has ended. */
  Optional<Whose> of(int hostPid) {
    Optional<Owner> known = registered.of(hostPid);
    return known.isPresent()
        ? known.map(o -> Whose.named(o.podUid(), o.container()))
        : cgroups.owner(hostPid).map(owner -> byCgroup(hostPid, owner));
  }

  private Whose byCgroup(int hostPid, CgroupOwner owner) {
    Optional<String> name = owner.containerId().flatMap(id -> names.nameOf(owner.podUid(), id));
    return name.isPresent()
        ? Whose.named(owner.podUid(), name.get())
        : new Whose(
            owner.podUid(),
            Optional.empty(),
            processes.look(hostPid).filter(p -> p.owner().equals(Optional.of(owner))));
  }
}
