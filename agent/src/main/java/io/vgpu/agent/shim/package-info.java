/** The shared-memory files of containers: mirrors of abi.h and their single writer. */
@NullMarked
package io.vgpu.agent.shim;

import org.jspecify.annotations.NullMarked;
