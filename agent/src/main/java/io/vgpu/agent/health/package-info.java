/** How it stands with the cards: what speaks against one, until when, and what is kept of it. */
@NullMarked
package io.vgpu.agent.health;

import org.jspecify.annotations.NullMarked;
