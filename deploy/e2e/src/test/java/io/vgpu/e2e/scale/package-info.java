/** Scheduling by the real control plane, on nodes that are objects only. */
@NullMarked
package io.vgpu.e2e.scale;

import org.jspecify.annotations.NullMarked;
