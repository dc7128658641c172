/** What is read from the API server's objects. */
@NullMarked
package io.vgpu.control.kube;

import org.jspecify.annotations.NullMarked;
