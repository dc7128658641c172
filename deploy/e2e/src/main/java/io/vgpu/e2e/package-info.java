/** Tests and shows on a real cluster. */
@NullMarked
package io.vgpu.e2e;

import org.jspecify.annotations.NullMarked;
