/** Cards as the agent sees them: discovery, samples, health; no native call in sight. */
@NullMarked
package io.vgpu.agent.gpu;

import org.jspecify.annotations.NullMarked;
