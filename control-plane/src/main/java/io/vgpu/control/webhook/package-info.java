/**
 * Admission of pods: defaults, checks and the guard of our keys, as pure functions behind an HTTPS
 * server.
 */
@NullMarked
package io.vgpu.control.webhook;

import org.jspecify.annotations.NullMarked;
