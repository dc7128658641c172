package io.vgpu.agent.cgroup;

import static io.vgpu.model.Checks.check;

import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Whose process it is.
 *
 * @param podUid as the API writes it
 * @param containerId the runtime's, without its name; empty: the cgroup is the pod's own
 */
public record CgroupOwner(String podUid, Optional<String> containerId) {
  private static final Pattern UID =
      Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}");
  private static final Pattern ID = Pattern.compile("[0-9a-f]{64}");

  public CgroupOwner {
    check(UID.matcher(podUid).matches(), "pod uid \"%s\": must be a UID in lower case", podUid);
    containerId.ifPresent(
        id -> check(ID.matcher(id).matches(), "container id \"%s\": must be 64 hex digits", id));
  }
}
