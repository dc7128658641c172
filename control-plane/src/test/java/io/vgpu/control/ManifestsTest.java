package io.vgpu.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.Names;
import io.vgpu.control.webhook.Admission;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

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

  private static Set<String> found(String pattern, String manifest) throws IOException {
    Set<String> found = new TreeSet<>();
    Matcher matcher = Pattern.compile(pattern).matcher(text(manifest));
    while (matcher.find()) {
      found.add(matcher.group(1));
    }
    return found;
  }

  private static String text(String manifest) throws IOException {
    return Files.readString(FOLDER.resolve(manifest));
  }
}
