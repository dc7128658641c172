/** The demo: every step of a pod's way, shown with its facts and checked. */
@NullMarked
package io.vgpu.e2e.demo;

import org.jspecify.annotations.NullMarked;
