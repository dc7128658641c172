/** Lends the one real cluster of a test run to its test classes. */
@NullMarked
package io.vgpu.e2e.junit;

import org.jspecify.annotations.NullMarked;
