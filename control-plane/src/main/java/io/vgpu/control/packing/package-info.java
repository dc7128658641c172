/**
 * What a placement does to the room that is left: the arithmetic of packing, without a framework.
 */
@NullMarked
package io.vgpu.control.packing;

import org.jspecify.annotations.NullMarked;
