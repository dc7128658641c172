/** What containers were refused of device memory, told to those who watch them. */
@NullMarked
package io.vgpu.agent.memory;

import org.jspecify.annotations.NullMarked;
