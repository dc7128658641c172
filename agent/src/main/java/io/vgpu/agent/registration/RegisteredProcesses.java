package io.vgpu.agent.registration;

import io.vgpu.agent.shim.ShimWriter.Owner;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntFunction;

/**
 * Who has registered and lives (13-37: no snapshot, each process comes and goes by itself). At most
 * one process a slot and container, so that the layout bounds them. In memory only: after a restart
 * of the agent processes are found by their cgroup again. Any thread.
 */
public final class RegisteredProcesses {
  private record Place(Owner owner, int slot) {}

  private final Map<Integer, RegisteredProcess> byPid = new ConcurrentHashMap<>();
  private final Map<Place, Integer> bySlot = new ConcurrentHashMap<>();
  private final IntFunction<OptionalLong> startTime;

  /** {@code startTime}: of the process that has a pid of the host now; any thread. */
  public RegisteredProcesses(IntFunction<OptionalLong> startTime) {
    this.startTime = startTime;
  }

  /** Keeps it; who had its slot before has left it. */
  synchronized void put(RegisteredProcess process) {
    Integer before = bySlot.put(new Place(process.owner(), process.slot()), process.hostPid());
    if (before != null && before != process.hostPid()) {
      byPid.remove(before);
    }
    RegisteredProcess same = byPid.put(process.hostPid(), process);
    if (same != null && !place(same).equals(place(process))) {
      bySlot.remove(place(same), same.hostPid());
    }
  }

  /** The container of a pid, if that process registered and is still the one that has the pid. */
  public Optional<RegisteredProcess> of(int hostPid) {
    return Optional.ofNullable(byPid.get(hostPid)).filter(this::lives);
  }

  /** Forgets who has ended. Reads a file of the kernel's for each. */
  void sweep() {
    for (RegisteredProcess p : byPid.values()) {
      if (!lives(p)) {
        forget(p);
      }
    }
  }

  public int size() {
    return byPid.size();
  }

  private synchronized void forget(RegisteredProcess p) {
    if (byPid.remove(p.hostPid(), p)) {
      bySlot.remove(place(p), p.hostPid());
    }
  }

  private boolean lives(RegisteredProcess p) {
    OptionalLong now = startTime.apply(p.hostPid());
    return now.isPresent() && now.getAsLong() == p.startTime();
  }

  private static Place place(RegisteredProcess p) {
    return new Place(p.owner(), p.slot());
  }
}
