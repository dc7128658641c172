/** Every meter of the agent. */
@NullMarked
package io.vgpu.agent.metrics;

import org.jspecify.annotations.NullMarked;
