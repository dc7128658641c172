/**
 * Scheduling on the real control plane at sizes that no machine here could run: nodes are objects.
 */
@NullMarked
package io.vgpu.e2e.scale;

import org.jspecify.annotations.NullMarked;
