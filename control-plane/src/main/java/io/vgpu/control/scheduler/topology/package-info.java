/** Which cards of a node belong together: NUMA groups, links, and siblings on other nodes. */
@NullMarked
package io.vgpu.control.scheduler.topology;

import org.jspecify.annotations.NullMarked;
