/** Nodes and pods as the scenarios of control-plane.md 8 describe them. */
@NullMarked
package io.vgpu.control.testing;

import org.jspecify.annotations.NullMarked;
