/** What the rescheduler reads from and writes to the Kubernetes API. */
@NullMarked
package io.vgpu.control.reschedule.kube;

import org.jspecify.annotations.NullMarked;
