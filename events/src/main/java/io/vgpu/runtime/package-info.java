/** What every main needs and nothing else: lanes, flags, health and metrics, shutdown. */
@NullMarked
package io.vgpu.runtime;

import org.jspecify.annotations.NullMarked;
