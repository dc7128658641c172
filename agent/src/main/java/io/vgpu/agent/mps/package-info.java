/** Cards partitioned in space: their MPS daemons, started, watched and ended (ADR 0009). */
@NullMarked
package io.vgpu.agent.mps;

import org.jspecify.annotations.NullMarked;
