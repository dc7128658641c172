/**
 * Processes in containers say to the agent that they are there, and the kernel says who they are.
 */
@NullMarked
package io.vgpu.agent.registration;

import org.jspecify.annotations.NullMarked;
