/** Our own parts as host processes beside the real cluster: what a chart would install. */
@NullMarked
package io.vgpu.e2e.product;

import org.jspecify.annotations.NullMarked;
