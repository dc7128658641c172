package io.vgpu.agent.config;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** 13-50: what the help names is accepted, in any case, and nothing else. */
class CgroupDriverTest {
  @ParameterizedTest
  @ValueSource(strings = {"systemd", "cgroupfs", "SystemD", "CGROUPFS"})
  void isAccepted(String name) {
    assertThat(CgroupDriver.isOne(name)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "host", "systemd ", "cgroup"})
  void isRefused(String name) {
    assertThat(CgroupDriver.isOne(name)).isFalse();
  }
}
