/** That decisions outlive those who made them, within bounds. */
@NullMarked
package io.vgpu.control.explain;

import org.jspecify.annotations.NullMarked;
