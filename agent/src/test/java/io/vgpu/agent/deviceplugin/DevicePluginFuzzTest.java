package io.vgpu.agent.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.deviceplugin.Ledger.Refusal;
import io.vgpu.agent.deviceplugin.PodEntry.Held;
import io.vgpu.agent.deviceplugin.PodEntry.Stage;
import io.vgpu.agent.deviceplugin.PodEntry.Turn;
import io.vgpu.claim.ClaimCodec;
import io.vgpu.claim.FormatException;
import io.vgpu.model.ContainerKind;
import io.vgpu.model.PodRef;
import io.vgpu.model.Reason;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

/** What others write, or a disk forgets, never gets further than a refusal. */
class DevicePluginFuzzTest {
  @Property(tries = 300)
  void aLedgerReadsBackAsItWasWritten(@ForAll("ledgers") Ledger ledger) {
    assertThat(LedgerCodec.decode(LedgerCodec.encode(ledger))).isEqualTo(ledger);
  }

  @Property(tries = 500)
  void oneChangedCharacterOfACheckpointIsNoticed(
      @ForAll("ledgers") Ledger ledger,
      @ForAll @IntRange(max = 1_000_000) int at,
      @ForAll char instead) {
    String text = LedgerCodec.encode(ledger);
    int i = at % text.length();
    String changed = text.substring(0, i) + instead + text.substring(i + 1);
    try {
      assertThat(LedgerCodec.decode(changed)).isEqualTo(ledger);
    } catch (FormatException e) {
      assertThat(e).hasMessageStartingWith("checkpoint");
    }
  }

  @Property(tries = 500)
  void aCutCheckpointIsNoticed(
      @ForAll("ledgers") Ledger ledger, @ForAll @IntRange(max = 1_000_000) int at) {
    String text = LedgerCodec.encode(ledger);
    String cut = text.substring(0, at % text.length());
    assertThat(refuses(cut)).isTrue();
  }

  @Property(tries = 1000)
  void anyTextIsReadOrRefused(@ForAll String text) {
    assertThat(refuses(text)).isTrue();
    assertThat(refuses("{\"version\":1,\"sha256\":\"" + text + "\"}\n{}\n")).isTrue();
  }

  private static boolean refuses(String text) {
    try {
      return LedgerCodec.decode(text) == null;
    } catch (FormatException e) {
      return true;
    }
  }

  @Property(tries = 1000)
  void onlyIdsOfOursAreTakenForIds(@ForAll("nearlyIds") String id) {
    DeviceIds.gpu(id)
        .ifPresent(
            gpu -> {
              assertThat(id).startsWith(gpu.value() + "::");
              assertThat(id.substring(gpu.value().length() + 2)).matches("[0-9]{1,6}");
            });
  }

  @Provide
  Arbitrary<String> nearlyIds() {
    Arbitrary<String> part =
        Arbitraries.strings().withChars("GPU-0123456789:abc_[];, /").ofMaxLength(60);
    return Arbitraries.oneOf(
        part,
        Combinators.combine(part, Arbitraries.of(":", "::", ":::"), part)
            .as((a, s, b) -> a + s + b),
        Arbitraries.integers().between(0, 9).map(n -> DeviceIds.of(FixedInventory.uuid(n), n)));
  }

  @Provide
  Arbitrary<Ledger> ledgers() {
    Arbitrary<Ledger.Refusal> refusal =
        Combinators.combine(refs(), Arbitraries.of(Reason.class), Arbitraries.strings())
            .as(Refusal::new);
    return Combinators.combine(entries().list().ofMaxSize(4), refusal.list().ofMaxSize(4))
        .as(
            (entries, refusals) -> {
              Ledger ledger = Ledger.EMPTY;
              for (PodEntry e : entries) {
                ledger = ledger.with(e);
              }
              for (Refusal r : refusals) {
                ledger = ledger.withRefusal(r);
              }
              return ledger;
            });
  }

  private static Arbitrary<PodRef> refs() {
    Arbitrary<String> word = Arbitraries.strings().alpha().ofMinLength(1).ofMaxLength(8);
    return Combinators.combine(word, word, word).as(PodRef::new);
  }

  private static Arbitrary<PodEntry> entries() {
    Arbitrary<Set<String>> ids =
        Arbitraries.integers()
            .between(0, 9)
            .map(n -> DeviceIds.of(FixedInventory.uuid(n), n))
            .set()
            .ofMinSize(1)
            .ofMaxSize(3);
    Arbitrary<Map<String, Held>> held =
        Arbitraries.maps(
                Arbitraries.of("main", "side"),
                Combinators.combine(
                        ids,
                        Arbitraries.of(Stage.class),
                        Arbitraries.of(true, false),
                        Arbitraries.of("", "libvgpu-control.so.1"))
                    .as(Held::new))
            .ofMaxSize(2);
    Arbitrary<List<Turn>> order =
        Combinators.combine(
                Arbitraries.of("main", "side"),
                Arbitraries.of(ContainerKind.class),
                Arbitraries.longs().between(1, 16))
            .as(Turn::new)
            .list()
            .ofMaxSize(3);
    return Combinators.combine(
            refs(),
            Arbitraries.strings(),
            Arbitraries.strings(),
            order,
            held,
            Arbitraries.of(true, false))
        .as(
            (ref, seal, policy, turns, h, ended) ->
                new PodEntry(
                    ref,
                    ClaimCodec.decode("main[0_GPU-a_10_1024];side[]"),
                    seal,
                    policy,
                    ended,
                    turns,
                    new LinkedHashMap<>(h),
                    ended));
  }
}
