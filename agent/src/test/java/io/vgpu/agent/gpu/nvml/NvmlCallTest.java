package io.vgpu.agent.gpu.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.testing.Built;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The mapping and {@code nvml.def}, from which the fake is made, list the same functions. */
class NvmlCallTest {
  /**
   * Listed for the fake's sake or for parts of the agent that do not exist yet; each must leave
   * this list when it is mapped.
   */
  private static final Set<String> NOT_MAPPED_YET =
      Set.of(
          "nvmlInitWithFlags",
          "nvmlDeviceGetHandleByUUID",
          "nvmlDeviceGetIndex",
          "nvmlDeviceGetGraphicsRunningProcesses_v3",
          "nvmlDeviceGetDeviceHandleFromMigDeviceHandle",
          "nvmlDeviceIsMigDeviceHandle",
          "nvmlDeviceGetP2PStatus",
          "nvmlDeviceGetNvLinkCapability");

  @Test
  void theMappingIsTheList() throws IOException {
    Set<String> listed = new TreeSet<>();
    Matcher rows =
        Pattern.compile("(?m)^NVML_[A-Z]+\\((\\w+),")
            .matcher(Files.readString(Built.shimSource("src/nvml.def")));
    while (rows.find()) {
      listed.add(rows.group(1));
    }
    Set<String> mapped =
        Arrays.stream(NvmlCall.values())
            .map(NvmlCall::symbol)
            .collect(Collectors.toCollection(TreeSet::new));

    assertThat(mapped).doesNotContainAnyElementsOf(NOT_MAPPED_YET);
    mapped.addAll(NOT_MAPPED_YET);
    assertThat(mapped).containsExactlyElementsOf(listed);
  }
}
