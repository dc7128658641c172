package io.vgpu.agent.registration;

import io.vgpu.agent.shim.ShimWriter.Owner;

/**
 * A process of the host that belongs to a container by its own word and the kernel's. Host pids
 * stay on the agent's side.
 *
 * @param startTime as the host's {@code /proc} has it
 * @param slot in its container's {@code usage}
 */
public record RegisteredProcess(int hostPid, long startTime, Owner owner, int slot) {}
