/** The control plane's dealings with the API server: watches, the one commit call, events. */
@NullMarked
package io.vgpu.control.kube;

import org.jspecify.annotations.NullMarked;
