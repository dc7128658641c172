/** The scheduler extender: filter and prioritize read, bind plans again and commits once. */
@NullMarked
package io.vgpu.control.scheduler;

import org.jspecify.annotations.NullMarked;
