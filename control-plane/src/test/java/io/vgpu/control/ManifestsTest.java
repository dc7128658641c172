package io.vgpu.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.Names;
import io.vgpu.control.webhook.Admission;
import io.vgpu.runtime.Durations;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** The manifests name keys, paths and accounts a second time: they must be the code's. */
class ManifestsTest {
  private static final Path FOLDER = Path.of("..", "deploy", "classic-local");
  private static final Names NAMES = Names.DEFAULT;

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "claim-guard.yaml, false",
    "webhook-configuration.yaml, true",
  })
  void nameExactlyOurKeys(String manifest, boolean resources) throws IOException {
    Set<String> wanted = new TreeSet<>(NAMES.outputAnnotations());
    wanted.addAll(NAMES.outputLabels());
    if (resources) {
      wanted.addAll(NAMES.resources());
    }
    assertThat(found("'(nvidia\\.com/[a-z-]+)'", manifest)).isEqualTo(wanted);
  }

  @Test
  void theGuardTrustsTheAccountsThatTheWebhookTrusts() throws IOException {
    Collection<String> trusted = new TreeSet<>(new WebhookCommand().trustedAccounts);
    assertThat(found("'(system:serviceaccount:[^']+)'", "claim-guard.yaml")).isEqualTo(trusted);
    assertThat(
            found(
                "kind: ServiceAccount\\nmetadata: \\{name: ([a-z-]+), namespace: kube-system",
                "rbac.yaml"))
        .containsAll(trusted.stream().map(a -> a.substring(a.lastIndexOf(':') + 1)).toList());
  }

  @Test
  void bothGuardsAreShownTheSameRequests() throws IOException {
    String requests = "operations: \\[(\\w+)\\]\\n(?:\\s*#.*\\n)?\\s*resources: \\[([a-z/, ]+)\\]";
    assertThat(found(requests, "claim-guard-webhook.yaml"))
        .isEqualTo(found(requests, "claim-guard.yaml"))
        .contains(
            "UPDATE pods, pods/status, pods/ephemeralcontainers, pods/resize",
            "CREATE pods/binding, bindings");
    assertThat(found("path: (\\S+), port", "claim-guard-webhook.yaml"))
        .isEqualTo(Set.of(Admission.VALIDATE));
  }

  @Test
  void kubeSchedulerAsksTheExtenderOfOurResources() throws IOException {
    assertThat(found("name: (nvidia\\.com/[a-z-]+),", "kube-scheduler.yaml"))
        .isEqualTo(Set.copyOf(NAMES.resources()));
    CommandSpec extender = new CommandLine(new ExtenderCommand()).getCommandSpec();
    assertThat(text("kube-scheduler.yaml"))
        .contains("schedulerName: " + Names.SCHEDULER_NAME + "\n")
        .contains(
            "urlPrefix: http://%s:%s/scheduler"
                .formatted(
                    extender.findOption("--bind-address").defaultValue(),
                    extender.findOption("--server-bind-port").defaultValue()));
  }

  @Test
  void olderSchedulersAreToldTheSame() throws IOException {
    assertThat(found("\"name\": \"(nvidia\\.com/[a-z-]+)\"", "kube-scheduler-policy.json"))
        .isEqualTo(Set.copyOf(NAMES.resources()));
    Set<String> verbs = found("(\\w+Verb): (\\w+)", "kube-scheduler.yaml");
    assertThat(found("\"(\\w+Verb)\": \"(\\w+)\"", "kube-scheduler-policy.json"))
        .isEqualTo(verbs)
        .contains("bindVerb bind", "preemptVerb preempt", "prioritizeVerb prioritize");
    assertThat(text("kube-scheduler-policy.json"))
        .contains("\"weight\": 10,", "\"nodeCacheCapable\": true", "127.0.0.1:3456/scheduler");
  }

  @Test
  void podsWithoutCardsAreOnlyScored() throws IOException {
    assertThat(found("(\\w+Verb): (\\w+)", "README.md")).containsExactly("prioritizeVerb steer");
  }

  @Test
  void theAutoscalerSendsWholeNodes() throws IOException {
    assertThat(text("cluster-autoscaler-scheduler.yaml"))
        .contains("filterVerb: filter-dryrun", "nodeCacheCapable: false", "ignorable: true")
        .doesNotContain("bindVerb", "preemptVerb");
    assertThat(found("name: (nvidia\\.com/[a-z-]+),", "cluster-autoscaler-scheduler.yaml"))
        .isEqualTo(Set.copyOf(NAMES.resources()));
  }

  @Test
  void theCommandLinesOfTheReadmeAreUnderstood() throws IOException {
    Set<String> lines = found("\\nvgpu-control-plane ([^\\n]+)", "README.md");
    assertThat(lines).hasSize(3);
    for (String line : lines) {
      CommandLine program = new CommandLine(new ControlPlaneMain(CommandSpec.create()));
      program.registerConverter(Duration.class, Durations::parse);
      assertThat(program.parseArgs(line.split(" ", -1)).hasSubcommand()).as(line).isTrue();
    }
    assertThat(lines).anyMatch(l -> l.contains("--scheduler-name=" + Names.SCHEDULER_NAME + " "));
  }

  @Test
  void theWebhookIsAskedOnItsOwnPaths() throws IOException {
    assertThat(found("path: (\\S+), port", "webhook-configuration.yaml"))
        .isEqualTo(Set.of(Admission.MUTATE, Admission.VALIDATE));
  }

  @Test
  void theControllerHasRightsWhereItsDefaultsLead() throws IOException {
    ControllerCommand command = new ControllerCommand();
    new CommandLine(command).getCommandSpec();
    assertThat(text("rbac.yaml"))
        .contains("kind: Namespace\nmetadata: {name: " + command.copiesNamespace + "}")
        .contains("resourceNames: [" + Names.CONTROLLER_LEASE + "]");
  }

  /** What lies on every GPU node must not be able to end, make or move anybody's pods. */
  @Test
  void theAgentMayReadAndMarkPodsAndNothingMore_13_39() throws IOException {
    String role =
        found(
                "(?s)kind: ClusterRole\nmetadata: \\{name: vgpu-manager-agent\\}\nrules:\n(.*?)\n---",
                "rbac.yaml")
            .iterator()
            .next();
    Map<String, Set<String>> verbs = new TreeMap<>();
    Matcher rule = Pattern.compile("resources: \\[(.*?)\\], verbs: \\[(.*?)\\]").matcher(role);
    while (rule.find()) {
      for (String resource : rule.group(1).split(", ", -1)) {
        verbs.computeIfAbsent(resource, r -> new TreeSet<>()).addAll(words(rule.group(2)));
      }
    }
    assertThat(verbs)
        .isEqualTo(
            Map.of(
                "pods", Set.of("get", "list", "watch", "patch"),
                "nodes", Set.of("get", "patch"),
                "nodes/status", Set.of("patch"),
                "nodes/pods", Set.of("get"),
                "events", Set.of("create")));
    assertThat(role.lines().filter(l -> l.startsWith("- "))).hasSize(verbs.size());
  }

  private static Set<String> words(String list) {
    return Set.of(list.split(", ", -1));
  }

  private static Set<String> found(String pattern, String manifest) throws IOException {
    Set<String> found = new TreeSet<>();
    Matcher matcher = Pattern.compile(pattern).matcher(text(manifest));
    while (matcher.find()) {
      found.add(
          IntStream.rangeClosed(1, matcher.groupCount())
              .mapToObj(matcher::group)
              .collect(Collectors.joining(" ")));
    }
    return found;
  }

  private static String text(String manifest) throws IOException {
    return Files.readString(FOLDER.resolve(manifest));
  }
}
