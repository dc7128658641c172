/** Tests of the package's promises. */
@NullMarked
package io.vgpu.control.cluster;

import org.jspecify.annotations.NullMarked;
