/** What containers use of the cards, looked at on lane regions and kept for whoever asks. */
@NullMarked
package io.vgpu.agent.measure;

import org.jspecify.annotations.NullMarked;
