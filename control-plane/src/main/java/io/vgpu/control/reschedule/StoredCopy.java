package io.vgpu.control.reschedule;

import io.vgpu.model.PodRef;
import java.time.Instant;

/**
 * The promise to make a pod again, kept in the API from before its removal until after its making.
 *
 * @param original the pod to replace
 * @param resourceVersion of the original that was copied: only that very state is removed
 * @param json the cleaned copy
 * @param since when the promise was made
 */
public record StoredCopy(PodRef original, String resourceVersion, String json, Instant since) {}
