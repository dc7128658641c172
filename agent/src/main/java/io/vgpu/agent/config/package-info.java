/** What the agent is told: gates, node configuration file, and the one record made of them. */
@NullMarked
package io.vgpu.agent.config;

import org.jspecify.annotations.NullMarked;
