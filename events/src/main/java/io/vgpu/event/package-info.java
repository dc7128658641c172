/** Facts in the past tense, and the one list of them. */
@NullMarked
package io.vgpu.event;

import org.jspecify.annotations.NullMarked;
