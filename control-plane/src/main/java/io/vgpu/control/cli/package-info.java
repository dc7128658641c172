/** The users' command. */
@NullMarked
package io.vgpu.control.cli;

import org.jspecify.annotations.NullMarked;
