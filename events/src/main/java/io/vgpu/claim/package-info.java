/** The texts that the domain travels in: names, annotation codecs, the seal of a claim. */
@NullMarked
package io.vgpu.claim;

import org.jspecify.annotations.NullMarked;
