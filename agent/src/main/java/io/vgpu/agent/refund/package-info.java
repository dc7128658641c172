/**
 * What containers that share a card were charged for and did not have, given back; and their turns.
 * The same whole-number arithmetic as {@code cuda-shim/src/refund}, compared byte for byte.
 */
@NullMarked
package io.vgpu.agent.refund;

import org.jspecify.annotations.NullMarked;
