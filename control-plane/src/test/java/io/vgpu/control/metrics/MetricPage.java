package io.vgpu.control.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.control.ControllerCommand;
import io.vgpu.control.ExtenderCommand;
import io.vgpu.control.WebhookCommand;
import io.vgpu.control.metrics.ControlMeters.Part;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** The page of one process's metrics, and whether a scrape says what the page says. */
public final class MetricPage {
  private MetricPage() {}

  /** Its name in {@code docs/}. */
  static String file(Part part) {
    return switch (part) {
      case EXTENDER -> "metrics-scheduler.md";
      case WEBHOOK -> "metrics-webhook.md";
      case CONTROLLER -> "metrics-controller.md";
    };
  }

  private static String title(Part part) {
    return switch (part) {
      case EXTENDER -> "scheduler extender";
      case WEBHOOK -> "webhook";
      case CONTROLLER -> "controller";
    };
  }

  private static String opsPort(Part part) {
    Object command =
        switch (part) {
          case EXTENDER -> new ExtenderCommand();
          case WEBHOOK -> new WebhookCommand();
          case CONTROLLER -> new ControllerCommand();
        };
    OptionSpec port = new CommandLine(command).getCommandSpec().findOption("--ops-bind-port");
    return port.defaultValue() != null ? port.defaultValue() : port.getValue().toString();
  }

  /** Its text. */
  static String of(Part part) {
    StringBuilder page =
        new StringBuilder(
            """
            # Metrics of the %s

            Served at `/metrics` of port %s. Label values come from closed lists; a timer has `_count`, `_sum` and `_max`.
            Made from `ControlMeters`; a test keeps it so.

            | name | kind | labels | meaning |
            |---|---|---|---|
            """
                .formatted(title(part), opsPort(part)));
    for (ControlMeters m : ControlMeters.of(part)) {
      page.append(
          "| `%s` | %s | %s | %s |%n"
              .formatted(
                  m.exposedName(),
                  m.kind().name().toLowerCase(Locale.ROOT),
                  m.labels().stream().map(l -> "`" + l + "`").collect(Collectors.joining(" ")),
                  m.description()));
    }
    return page.toString();
  }

  /** Fails when the scrape has a family of ours that the page does not name. */
  public static void namesAllOf(Part part, String scrape) {
    List<String> named = ControlMeters.of(part).stream().map(ControlMeters::exposedName).toList();
    List<String> families =
        scrape
            .lines()
            .filter(l -> l.startsWith("# TYPE vgpu_"))
            .map(l -> l.split(" ", -1)[2].replaceFirst("_max$", ""))
            .toList();
    assertThat(families).isNotEmpty().isSubsetOf(named);
  }

  /** Fails when the scrape lacks a meter of the page, or one of its labels. */
  static void isWhollyIn(Part part, String scrape) {
    for (ControlMeters m : ControlMeters.of(part)) {
      assertThat(scrape.lines())
          .as(m.name())
          .anyMatch(
              l ->
                  l.startsWith(m.exposedName())
                      && m.labels().stream().allMatch(label -> l.contains(label + "=")));
    }
  }
}
