/**
 * Broker for GPUs over the network: pods on consumer nodes use GPUs of server nodes. Sessions,
 * relay, bundles and metering come with the remote pool's own issue; what stands here is the
 * process's frame.
 */
@NullMarked
package io.vgpu.pool;

import org.jspecify.annotations.NullMarked;
