/** What the cluster holds, as slim immutable records and one state that a lane owns. */
@NullMarked
package io.vgpu.control.cluster;

import org.jspecify.annotations.NullMarked;
