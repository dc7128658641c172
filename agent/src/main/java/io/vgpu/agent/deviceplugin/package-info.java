/** Who is being admitted, and what its container gets. */
@NullMarked
package io.vgpu.agent.deviceplugin;

import org.jspecify.annotations.NullMarked;
