package io.vgpu.agent.cgroup;

import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads {@code /proc/<pid>/cgroup} (node-agent.md 9): v1, v2 and hybrid, kubelets with either
 * cgroup driver and any root, the names that docker, containerd and CRI-O give. The outermost pod
 * of a path counts, and the container right below it: what is deeper is the container's own to
 * name. Pure; a file that names nobody, or two, has no owner.
 */
public final class CgroupFile {
  private static final int MAX_LINES = 64; // controllers and named hierarchies of one process
  private static final int MAX_PATH = 4096;

  // cgroupfs: pod<uid>. systemd: <parents>-pod<uid_>.slice, where systemd wants _ for -
  private static final String POD =
      "(?:.*-)?pod([0-9a-f]{8}(?:([-_])[0-9a-f]{4})(?:\\2[0-9a-f]{4}){2}\\2[0-9a-f]{12}|[0-9a-f]{32})(?:\\.slice)?";
  private static final Pattern POD_NAME = Pattern.compile(POD, Pattern.CASE_INSENSITIVE);

  // cgroupfs: <id>, CRI-O's crio-<id>. systemd: <runtime>-<id>.scope, without the end in old ones
  private static final Pattern CONTAINER_NAME =
      Pattern.compile("(?:([a-z][a-z0-9-]*)-)?([0-9a-f]{64})(?:\\.scope)?");

  // containerd whose own cgroup driver is not the kubelet's: one name for both
  private static final Pattern BOTH =
      Pattern.compile(POD + ":[a-z-]+:([0-9a-f]{64})", Pattern.CASE_INSENSITIVE);

  private CgroupFile() {}

  /** The owner that the file's text names. */
  public static Optional<CgroupOwner> owner(String text) {
    Set<CgroupOwner> named = new HashSet<>();
    text.lines().limit(MAX_LINES).forEach(line -> ownerOfLine(line).ifPresent(named::add));
    Set<CgroupOwner> containers = new HashSet<>(named);
    containers.removeIf(owner -> owner.containerId().isEmpty());
    boolean onePod = named.stream().map(CgroupOwner::podUid).distinct().count() == 1;
    if (!onePod || containers.size() > 1) {
      return Optional.empty();
    }
    return (containers.isEmpty() ? named : containers).stream().findFirst();
  }

  /** A line is {@code number:controllers:path}; the path may have colons. */
  private static Optional<CgroupOwner> ownerOfLine(String line) {
    String[] parts = line.split(":", 3);
    if (parts.length < 3 || parts[2].length() > MAX_PATH) {
      return Optional.empty();
    }
    List<String> names = List.of(parts[2].split("/", -1));
    for (int i = 0; i < names.size(); i++) {
      Matcher both = BOTH.matcher(names.get(i));
      if (both.matches()) {
        return Optional.of(
            new CgroupOwner(uid(both), Optional.of(both.group(3).toLowerCase(Locale.ROOT))));
      }
      Matcher pod = POD_NAME.matcher(names.get(i));
      if (pod.matches()) {
        return ofPod(uid(pod), i + 1 < names.size() ? names.get(i + 1) : "");
      }
    }
    return Optional.empty();
  }

  private static Optional<CgroupOwner> ofPod(String uid, String below) {
    Matcher container = CONTAINER_NAME.matcher(below);
    if (container.matches()) {
      return isMonitor(container.group(1))
          ? Optional.empty()
          : Optional.of(new CgroupOwner(uid, Optional.of(container.group(2))));
    }
    return Optional.of(new CgroupOwner(uid, Optional.empty()));
  }

  /** CRI-O's helper of a container lives beside it, in the pod, but is the node's. */
  private static boolean isMonitor(@Nullable String prefix) {
    return prefix != null && prefix.endsWith("conmon");
  }

  private static String uid(Matcher pod) {
    return pod.group(1).toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
