/**
 * What the scheduler extender makes of a real API server when everything that can go wrong between
 * filter and bind does; judged from the API server's objects alone.
 */
@NullMarked
package io.vgpu.e2e.state;

import org.jspecify.annotations.NullMarked;
