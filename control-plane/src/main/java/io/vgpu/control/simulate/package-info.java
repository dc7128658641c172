/** Replays a workload on a cluster that exists on paper only, through the product's allocator. */
@NullMarked
package io.vgpu.control.simulate;

import org.jspecify.annotations.NullMarked;
