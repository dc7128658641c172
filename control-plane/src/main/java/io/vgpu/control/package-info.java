/** The control plane's command and its sub-commands: wiring, nothing more. */
@NullMarked
package io.vgpu.control;

import org.jspecify.annotations.NullMarked;
