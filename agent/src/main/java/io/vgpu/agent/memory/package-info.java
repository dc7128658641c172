/** Containers' device memory: what they were refused, and what their contexts really take. */
@NullMarked
package io.vgpu.agent.memory;

import org.jspecify.annotations.NullMarked;
