/** The node agent: wiring of its sub-commands, nothing more. */
@NullMarked
package io.vgpu.agent;

import org.jspecify.annotations.NullMarked;
