/**
 * One truth under a burst: a hundred pods on a real kubelet while our parts and the kubelet are
 * killed; every container must have got exactly its claim.
 */
@NullMarked
package io.vgpu.e2e.burst;

import org.jspecify.annotations.NullMarked;
