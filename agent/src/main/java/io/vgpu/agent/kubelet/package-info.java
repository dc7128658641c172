/** Sockets towards the kubelet: serving, registering, asking. */
@NullMarked
package io.vgpu.agent.kubelet;

import org.jspecify.annotations.NullMarked;
