/**
 * Ends the real agent at a chosen step of its work, as {@code kill -9} would: a Java agent, loaded
 * into the process by tests alone, that puts a look before every call with which the agent changes
 * something outside of itself. The product has no hook for this.
 */
@NullMarked
package io.vgpu.e2e.faults.point;

import org.jspecify.annotations.NullMarked;
