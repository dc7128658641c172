package io.vgpu.testing;

import io.vgpu.runtime.EnvDefaults;
import java.util.Comparator;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The flags of a command and its sub-commands as a Markdown page, from picocli's own definition.
 */
public final class FlagTable {
  private FlagTable() {}

  /** One section per command that has flags of its own. */
  public static String of(String title, Object command) {
    StringBuilder page =
        new StringBuilder(
            "# " + title + "\n\nMade from the commands' own definitions; a test keeps it so.\n");
    section(page, new CommandLine(command).getCommandSpec());
    return page.toString();
  }

  private static void section(StringBuilder page, CommandSpec spec) {
    if (spec.options().stream().anyMatch(o -> !o.usageHelp() && !o.versionHelp() && !o.hidden())) {
      page.append("\n## ").append(spec.qualifiedName()).append("\n\n");
      page.append("| flag | default | environment | meaning |\n|---|---|---|---|\n");
      spec.options().stream()
          .filter(o -> !o.usageHelp() && !o.versionHelp() && !o.hidden())
          .sorted(Comparator.comparing(OptionSpec::longestName))
          .forEach(o -> page.append(row(o)));
    }
    spec.subcommands().values().stream()
        .map(CommandLine::getCommandSpec)
        .distinct()
        .sorted(Comparator.comparing(CommandSpec::qualifiedName))
        .forEach(s -> section(page, s));
  }

  private static String row(OptionSpec o) {
    Object unset = o.defaultValue() != null ? o.defaultValue() : o.initialValue();
    String text = unset == null ? "" : unset.toString();
    // an empty Optional or list is how "nothing" looks
    String value =
        text.isEmpty() || text.equals("[]") || text.equals("Optional.empty")
            ? ""
            : "`" + text + "`";
    String variable = EnvDefaults.VARIABLES.getOrDefault(o.longestName(), "");
    String meaning =
        String.join(" ", o.description())
            .replace("${DEFAULT-VALUE}", String.valueOf(o.defaultValue()))
            .replace("|", "\\|");
    return "| `%s` | %s | %s | %s |%n"
        .formatted(o.longestName(), value, variable.isEmpty() ? "" : "`" + variable + "`", meaning);
  }
}
