/** How nodes and cards are ordered; each policy is one class. */
@NullMarked
package io.vgpu.control.scheduler.policy;

import org.jspecify.annotations.NullMarked;
