/**
 * Tenants who attack, in real containers, as root and as another user; and the same attacks where
 * nothing defends.
 */
@NullMarked
package io.vgpu.e2e.isolation;

import org.jspecify.annotations.NullMarked;
