package io.vgpu.agent.shim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RegionsTest {
  private static final List<DeviceLimits> TWO = LimitsRuleTest.twoCards();

  @Test
  void whatIsWrittenIsRead() {
    try (Arena arena = Arena.ofConfined()) {
      LimitsRegion limits = new LimitsRegion(arena.allocate(Abi.LIMITS_BYTES, 8));
      assertThat(limits.read()).isEmpty();
      limits.format(TWO, 7, 8);
      assertThat(limits.read()).contains(TWO);
      assertThat(limits.header()).contains(new Region.Header(2, 7, 8));

      limits.update(1, TWO.get(0));
      assertThat(limits.read()).contains(List.of(TWO.get(0), TWO.get(0)));
      limits.takeOver(9);
      assertThat(limits.header()).contains(new Region.Header(2, 9, 8));
    }
  }

  @Test
  void everyFlagIsReadAsWritten() {
    DeviceLimits one = TWO.getFirst();
    for (DeviceLimits.Flag flag : DeviceLimits.Flag.values()) {
      DeviceLimits flagged =
          new DeviceLimits(one.uuid(), 0, 132, Set.of(flag), one.memLimit(), 0, 250, 250);
      try (Arena arena = Arena.ofConfined()) {
        LimitsRegion limits = new LimitsRegion(arena.allocate(Abi.LIMITS_BYTES, 8));
        limits.format(List.of(flagged), 7, 8);
        assertThat(limits.read()).contains(List.of(flagged));
      }
    }
  }

  @Test
  void loadIsReadAsWritten() {
    try (Arena arena = Arena.ofConfined()) {
      LoadRegion load = new LoadRegion(arena.allocate(Abi.LOAD_BYTES, 8));
      load.format(2, 7, 8);
      DeviceLoad figures =
          new DeviceLoad(
              900,
              250,
              3,
              1L << 40,
              new DriverMemory(5L << 30, 480L << 20, 9),
              77,
              40_000,
              10_000,
              20_000);
      load.update(1, figures);
      assertThat(load.read(1)).contains(figures);
      assertThat(load.read(0)).contains(DeviceLoad.NONE);
    }
  }

  @Test
  void noReaderSeesHalfOfTwoWrites() throws Exception {
    try (Arena arena = Arena.ofShared();
        ExecutorService threads = Executors.newSingleThreadExecutor()) {
      MemorySegment memory = arena.allocate(Abi.LOAD_BYTES, 8);
      LoadRegion load = new LoadRegion(memory);
      load.format(1, 1, 1);
      AtomicBoolean end = new AtomicBoolean();
      Future<?> writer =
          threads.submit(
              () -> {
                for (int i = 1; !end.get(); i = i % 1000 + 1) {
                  load.update(0, all(i));
                }
              });
      int whole = 0;
      for (int tries = 0; tries < 20_000; tries++) {
        Optional<DeviceLoad> copy = load.read(0);
        if (copy.isPresent()) {
          DeviceLoad d = copy.get();
          whole++;
          assertThat(d).isEqualTo(all(d.othersActive()));
        }
      }
      end.set(true);
      writer.get();
      assertThat(whole).isPositive();
    }
  }

  private static DeviceLoad all(int i) {
    return new DeviceLoad(i, i, i, i, new DriverMemory(i, i, i), i, i, i, i);
  }

  @Test
  void aWordLeftOddByADeadWriterIsTakenOver() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(Abi.LIMITS_BYTES, 8);
      LimitsRegion limits = new LimitsRegion(memory);
      limits.format(TWO, 1, 1);
      memory.set(ValueLayout.JAVA_INT, Abi.Limits.DEVICES, 5);
      assertThat(limits.read()).isEmpty();
      limits.update(0, TWO.get(0));
      assertThat(limits.read()).contains(TWO);
      assertThat(memory.get(ValueLayout.JAVA_INT, Abi.Limits.DEVICES)).isEqualTo(6);
    }
  }

  @Property
  void anyBytesAreReadWithoutHarm(@ForAll @Size(max = 512) byte[] bytes) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(Abi.LIMITS_BYTES, 8);
      new LimitsRegion(memory).format(TWO, 1, 1);
      // behind magic and version, so that the entries are reached
      MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 8, bytes.length);
      new LimitsRegion(memory)
          .read()
          .ifPresent(found -> assertThat(found).hasSizeLessThanOrEqualTo(Abi.MAX_DEVICES));
    }
  }

  @Property(tries = 200)
  void anyUsageFileIsJudgedNotBelieved(@ForAll byte[] bytes) throws IOException {
    Path file = Files.createTempFile("usage", "");
    try {
      Files.write(file, bytes);
      assertThat(UsageReader.inspect(file)).isInstanceOf(UsageReader.State.Broken.class);
      UsageReader.reset(file, 2, 11, 12);
      assertThat(UsageReader.inspect(file))
          .isEqualTo(new UsageReader.State.Sound(new Region.Header(2, 11, 12)));
      assertThat(Files.size(file)).isEqualTo(Abi.USAGE_BYTES);
    } finally {
      Files.delete(file);
    }
  }

  @Test
  void aLinkInPlaceOfUsageIsNotFollowed(@TempDir Path dir) throws IOException {
    Path secret = Files.writeString(dir.resolve("secret"), "untouched");
    Path usage = Files.createSymbolicLink(dir.resolve("usage"), secret);
    assertThat(UsageReader.inspect(usage)).isInstanceOf(UsageReader.State.Broken.class);
    assertThatThrownBy(() -> UsageReader.reset(usage, 1, 1, 1)).isInstanceOf(IOException.class);
    assertThat(secret).hasContent("untouched");
  }

  @Test
  void bootIdIsHashedAsTheHeaderSays() throws IOException {
    // FNV-1a of the empty string is the offset basis; of 36 characters it was computed apart from
    // this code
    assertThat(BootId.hash("00000000-0000-0000-0000-000000000000"))
        .isEqualTo(fnv("00000000-0000-0000-0000-000000000000"));
    assertThatThrownBy(() -> BootId.hash("short")).hasMessageContaining("36 characters");
  }

  private static long fnv(String text) {
    java.math.BigInteger modulus = java.math.BigInteger.ONE.shiftLeft(64);
    java.math.BigInteger hash = new java.math.BigInteger("14695981039346656037");
    for (char c : text.toCharArray()) {
      hash = hash.xor(java.math.BigInteger.valueOf(c));
      hash = hash.multiply(new java.math.BigInteger("1099511628211")).mod(modulus);
    }
    return hash.longValue();
  }
}
