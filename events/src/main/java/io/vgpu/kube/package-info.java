/** The Kubernetes plumbing that several deployables need. */
@NullMarked
package io.vgpu.kube;

import org.jspecify.annotations.NullMarked;
