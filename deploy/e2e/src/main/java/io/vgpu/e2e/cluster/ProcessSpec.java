package io.vgpu.e2e.cluster;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * How to start one process of the cluster: command, additional environment, and where its log and
 * its pid file lie. The same record starts it again after it was killed.
 */
public record ProcessSpec(
    String name, List<String> command, Map<String, String> environment, Path log, Path pidFile) {
  public ProcessSpec {
    if (!name.matches("[a-z0-9][a-z0-9.-]*")) {
      throw new IllegalArgumentException(
          "process name '" + name + "': lower-case letters, digits, '-' and '.' only");
    }
    if (command.isEmpty()) {
      throw new IllegalArgumentException("process " + name + ": empty command");
    }
    command = List.copyOf(command);
    environment = Map.copyOf(environment);
  }
}
