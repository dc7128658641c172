/** What the users' command reads from the Kubernetes API. */
@NullMarked
package io.vgpu.control.cli.kube;

import org.jspecify.annotations.NullMarked;
