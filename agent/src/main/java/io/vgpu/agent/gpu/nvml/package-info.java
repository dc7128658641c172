/** NVML through JNA, its calls listed in cuda-shim's nvml.def. */
@NullMarked
package io.vgpu.agent.gpu.nvml;

import org.jspecify.annotations.NullMarked;
