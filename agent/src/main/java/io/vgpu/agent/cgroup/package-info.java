/** Which container a process of the host belongs to, by its cgroup. */
@NullMarked
package io.vgpu.agent.cgroup;

import org.jspecify.annotations.NullMarked;
