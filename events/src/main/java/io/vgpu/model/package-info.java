/** Value records of the domain: each checks itself, none knows a framework. */
@NullMarked
package io.vgpu.model;

import org.jspecify.annotations.NullMarked;
