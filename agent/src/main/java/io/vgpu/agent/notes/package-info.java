/** What the agent must still know after it was killed at any moment. */
@NullMarked
package io.vgpu.agent.notes;

import org.jspecify.annotations.NullMarked;
