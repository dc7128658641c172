/** That each check of the burst can fail, shown on hand-made histories; and the burst itself. */
@NullMarked
package io.vgpu.e2e.burst;

import org.jspecify.annotations.NullMarked;
