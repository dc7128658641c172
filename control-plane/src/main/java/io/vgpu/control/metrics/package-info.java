/** The metrics of the control plane, one constant each. */
@NullMarked
package io.vgpu.control.metrics;

import org.jspecify.annotations.NullMarked;
