package io.vgpu.runtime;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Runs a picocli command the way all our commands behave: unknown flags are fatal and name the
 * nearest known one, usage errors print one line and end with 2, other failures end with 1.
 */
public final class Cli {
  public static final int USAGE = 2;

  private Cli() {}

  /**
   * Parses and runs; returns the exit status. The command's own {@code call()} may throw {@link
   * UsageException}.
   */
  public static int run(Object command, String... args) {
    return run(command, UsageException.class, args);
  }

  /** The same, where failures of type {@code expected} are for the user too: one line, status 1. */
  public static int run(
      Object command, Class<? extends RuntimeException> expected, String... args) {
    CommandLine line = new CommandLine(command);
    line.setDefaultValueProvider(new EnvDefaults());
    line.setCaseInsensitiveEnumValuesAllowed(true);
    line.registerConverter(Duration.class, Durations::parse);
    // "--a --b" must not swallow --b as the value of --a
    line.setUnmatchedOptionsAllowedAsOptionParameters(false);
    line.setParameterExceptionHandler((e, given) -> usage(e));
    line.setExecutionExceptionHandler(
        (e, failed, parsed) -> {
          if (e instanceof UsageException || e instanceof IllegalArgumentException) {
            failed
                .getErr()
                .println(failed.getCommandSpec().qualifiedName() + ": " + e.getMessage());
            return USAGE;
          }
          if (expected.isInstance(e)) {
            failed
                .getErr()
                .println(failed.getCommandSpec().qualifiedName() + ": " + e.getMessage());
            return 1;
          }
          throw e;
        });
    return line.execute(args);
  }

  private static int usage(ParameterException e) {
    CommandLine line = e.getCommandLine();
    String name = line.getCommandSpec().qualifiedName();
    if (e instanceof UnmatchedArgumentException unmatched
        && !(e.getCause() instanceof MissingParameterException)) {
      for (String word : unmatched.getUnmatched()) {
        line.getErr().println(name + ": " + unknown(line, word));
      }
    } else {
      line.getErr().println(name + ": " + e.getMessage());
    }
    line.getErr().println("Run '" + name + " --help' for all flags.");
    return USAGE;
  }

  private static String unknown(CommandLine line, String word) {
    boolean flag = word.startsWith("-");
    List<String> known = new ArrayList<>();
    if (flag) {
      line.getCommandSpec().options().forEach(o -> known.addAll(List.of(o.names())));
    } else {
      known.addAll(line.getSubcommands().keySet());
    }
    String given = flag && word.contains("=") ? word.substring(0, word.indexOf('=')) : word;
    Optional<String> near = Nearest.closest(given, known);
    return "unknown "
        + (flag ? "flag" : "argument")
        + ": "
        + given
        + near.map(n -> " (nearest known: " + n + ")").orElse("");
  }
}
