/** What the tests of every module share. */
@NullMarked
package io.vgpu.testing;

import org.jspecify.annotations.NullMarked;
