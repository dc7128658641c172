package io.vgpu.control.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.Names;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which pods filter shows every node: read from the body that kube-scheduler sends. */
class SoftConstraintsTest {
  private static final String POD =
      """
      {"Pod": {"metadata": {"name": "p", "namespace": "ns", "uid": "u"}, "spec": %s},
       "Nodes": null, "NodeNames": ["n1"]}
      """;

  @ParameterizedTest(name = "{1}: {0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '#',
      value = {
        "{} | false",
        "{'affinity': null, 'topologySpreadConstraints': null} | false",
        "{'affinity': {'nodeAffinity': {'PREF': [{'weight': 1}]}}} | true",
        "{'affinity': {'nodeAffinity': {'PREF': []}}} | false",
        "{'affinity': {'nodeAffinity': {'REQ': {'nodeSelectorTerms': []}}}} | false",
        "{'affinity': {'podAffinity': {'PREF': [{'weight': 1}]}}} | true",
        "{'affinity': {'podAffinity': {'REQ': [{'topologyKey': 'zone'}]}}} | false",
        "{'affinity': {'podAntiAffinity': {'PREF': [{'weight': 1}]}}} | true",
        "{'affinity': 'nonsense'} | false",
        "{'topologySpreadConstraints': [{'whenUnsatisfiable': 'DoNotSchedule'}]} | false",
        "{'topologySpreadConstraints': [{'whenUnsatisfiable': 'DoNotSchedule'},"
            + " {'whenUnsatisfiable': 'ScheduleAnyway'}]} | true",
      })
  void softOnes(String spec, boolean soft) {
    String json =
        POD.formatted(spec)
            .replace('\'', '"')
            .replace("PREF", "preferredDuringSchedulingIgnoredDuringExecution")
            .replace("REQ", "requiredDuringSchedulingIgnoredDuringExecution");
    ExtenderArgs args =
        new ExtenderJson(Names.DEFAULT, true).args(json.getBytes(StandardCharsets.UTF_8));
    assertThat(args.soft()).isEqualTo(soft);
  }
}
