/** What a container needs to reach its cards: device nodes, driver files, and the CDI specs. */
@NullMarked
package io.vgpu.agent.inject;

import org.jspecify.annotations.NullMarked;
