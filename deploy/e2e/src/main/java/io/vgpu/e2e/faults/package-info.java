/**
 * The fault matrix of the agent on a real cluster: one fault after the other, and after each of
 * them nothing may be lost.
 */
@NullMarked
package io.vgpu.e2e.faults;

import org.jspecify.annotations.NullMarked;
