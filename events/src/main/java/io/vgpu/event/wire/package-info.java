/** How facts travel inside a process: typed port and local codec. */
@NullMarked
package io.vgpu.event.wire;

import org.jspecify.annotations.NullMarked;
