/** Tests of the package's promises. */
@NullMarked
package io.vgpu.control.scheduler;

import org.jspecify.annotations.NullMarked;
