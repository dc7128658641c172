/** What the controller keeps of the extenders' decisions, for those who ask later (D12). */
@NullMarked
package io.vgpu.control.explain;

import org.jspecify.annotations.NullMarked;
