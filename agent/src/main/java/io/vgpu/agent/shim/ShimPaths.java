package io.vgpu.agent.shim;

import static io.vgpu.model.Checks.check;

import io.vgpu.agent.shim.ShimWriter.Owner;
import io.vgpu.model.ContainerName;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where things are (node-agent.md 1.8). Pure.
 *
 * @param managerDir M: where the agent sees the manager's root
 * @param hostManagerDir HM: where the container runtime sees it
 * @param usageDir T: the agent's tmpfs, at the same path for both
 */
public record ShimPaths(Path managerDir, Path hostManagerDir, Path usageDir) {
  public static final String PRELOAD_FILE = "ld.so.preload";

  // a pod's UID becomes part of a path: nothing that could leave the directory
  private static final Pattern POD_UID = Pattern.compile("[0-9A-Za-z][0-9A-Za-z-]{0,62}");
  private static final Pattern OWNER = Pattern.compile("(" + POD_UID.pattern() + ")_([a-z0-9-]+)");

  public ShimPaths {
    for (Path p : new Path[] {managerDir, hostManagerDir, usageDir}) {
      check(p.isAbsolute(), "directory \"%s\": must be absolute", p);
    }
  }

  /** The name of the container's directory below {@code /etc/vgpu-manager} inside the container. */
  public static String directoryInContainer(String container) {
    return container.equals(Abi.DRIVER_DIR) || container.equals(Abi.REGISTRY_DIR)
        ? container + "_"
        : container;
  }

  /** The name of an owner's directories below M and T; refuses a UID that is none. */
  static String directoryName(Owner owner) {
    check(
        POD_UID.matcher(owner.podUid()).matches(),
        "pod UID \"%s\": must be 1 to 63 letters, digits or dashes",
        owner.podUid());
    check(
        ContainerName.isValid(owner.container()),
        "container name \"%s\": %s",
        owner.container(),
        ContainerName.RULE);
    return owner.podUid() + "_" + owner.container();
  }

  /** The owner that a directory name stands for; empty for the other directories. */
  static Optional<Owner> owner(String directoryName) {
    Matcher m = OWNER.matcher(directoryName);
    return m.matches() && ContainerName.isValid(m.group(2))
        ? Optional.of(new Owner(m.group(1), m.group(2)))
        : Optional.empty();
  }

  /** M's directory of the registration socket. */
  public Path registry() {
    return managerDir.resolve(Abi.REGISTRY_DIR);
  }

  /** HM's directory of the registration socket, as mounted. */
  public Path hostRegistry() {
    return hostManagerDir.resolve(Abi.REGISTRY_DIR);
  }

  /** M's directory of an owner. */
  Path config(Owner owner) {
    return managerDir.resolve(directoryName(owner));
  }

  /** HM's directory of an owner, as mounted. */
  Path hostConfig(Owner owner) {
    return hostManagerDir.resolve(directoryName(owner));
  }

  /** T's directory of an owner. */
  Path usage(Owner owner) {
    return usageDir.resolve(directoryName(owner));
  }
}
