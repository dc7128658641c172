package io.vgpu.agent.cgroup;

import java.util.Optional;

/**
 * What the kernel says of a process, all of it of the same one.
 *
 * @param pid as the host counts it
 * @param startTime field 22 of its {@code stat}: another process of the same pid has another
 * @param innerPid as the innermost pid namespace of the process counts it, which is what it knows
 *     of itself
 * @param owner the container that its cgroup names, if any
 */
public record HostProcess(int pid, long startTime, int innerPid, Optional<CgroupOwner> owner) {}
