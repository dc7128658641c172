/**
 * A real one-node Kubernetes cluster in its own network namespace: started, watched, broken and
 * stopped by one object.
 */
@NullMarked
package io.vgpu.e2e.cluster;

import org.jspecify.annotations.NullMarked;
