/** Replaces pods whose allocation failed, exactly once each. */
@NullMarked
package io.vgpu.control.reschedule;

import org.jspecify.annotations.NullMarked;
