/** This node's pods, and what the node publishes. */
@NullMarked
package io.vgpu.agent.kube;

import org.jspecify.annotations.NullMarked;
