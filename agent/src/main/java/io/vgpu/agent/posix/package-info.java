/** The handful of system calls that the JDK lacks. */
@NullMarked
package io.vgpu.agent.posix;

import org.jspecify.annotations.NullMarked;
