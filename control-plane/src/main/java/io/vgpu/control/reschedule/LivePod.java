package io.vgpu.control.reschedule;

import java.util.Optional;

/**
 * A pod as one GET found it.
 *
 * @param pod what the decision needs
 * @param resourceVersion of this state
 * @param replaces the UID of the pod that it replaces, if we made it
 * @param copy the cleaned copy, as JSON, that would replace it
 */
public record LivePod(
    FailedPod pod, String resourceVersion, Optional<String> replaces, String copy) {}
