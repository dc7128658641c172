package io.vgpu.e2e.faults;

import io.vgpu.e2e.cluster.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** What cards and their driver can do: every error code, a call that hangs, a card that is lost. */
final class CardFaults {
  private static final int CARDS = 8;
  private static final int SLOTS_A_CARD = 10;

  /** Cards that fail at one time; two of eight go on. */
  private static final int AT_ONCE = 6;

  /** All codes of NVML but success, "not supported", which is an answer, and the lasting ones. */
  static final List<String> CODES =
      List.of(
          "UNINITIALIZED",
          "INVALID_ARGUMENT",
          "NO_PERMISSION",
          "ALREADY_INITIALIZED",
          "NOT_FOUND",
          "INSUFFICIENT_SIZE",
          "INSUFFICIENT_POWER",
          "DRIVER_NOT_LOADED",
          "TIMEOUT",
          "IRQ_ISSUE",
          "LIBRARY_NOT_FOUND",
          "FUNCTION_NOT_FOUND",
          "CORRUPTED_INFOROM",
          "OPERATING_SYSTEM",
          "LIB_RM_VERSION_MISMATCH",
          "IN_USE",
          "MEMORY",
          "NO_DATA",
          "INSUFFICIENT_RESOURCES",
          "ARGUMENT_VERSION_MISMATCH",
          "DEPRECATED",
          "NOT_READY",
          "GPU_NOT_FOUND",
          "INVALID_STATE",
          "UNKNOWN");

  /** Only a reset or a reboot mends a card that answers so. */
  static final List<String> LASTING = List.of("GPU_IS_LOST", "RESET_REQUIRED");

  private static final String CALL = "nvmlDeviceGetUtilizationRates";

  private CardFaults() {}

  static List<Fault> all() {
    List<Fault> faults = new ArrayList<>();
    for (int i = 0; i < CODES.size(); i += AT_ONCE) {
      List<String> some = CODES.subList(i, Math.min(i + AT_ONCE, CODES.size()));
      faults.add(new Fault("driver", "answers " + String.join(" ", some), s -> answers(s, some)));
    }
    faults.add(new Fault("driver", "answers NOT_SUPPORTED", CardFaults::notSupported));
    for (String code : LASTING) {
      faults.add(
          new Fault(
              "driver",
              "answers " + code + ", the agent started anew",
              s -> lasts(s, "fail " + CALL + " code=" + code + " device=3")));
    }
    faults.add(new Fault("driver", "a call hangs for 15 s", CardFaults::hangs));
    faults.add(new Fault("card", "lost, the agent started anew", s -> lasts(s, "lost 3")));
    return faults;
  }

  private static void awaitHealthy(Stage stage, int cards) {
    Await.until(
        cards + " healthy cards",
        Stage.LIMIT,
        () -> stage.product().allocatable() == (long) SLOTS_A_CARD * cards);
  }

  private static void answers(Stage stage, List<String> codes) throws IOException {
    for (int card = 0; card < codes.size(); card++) {
      stage.driver("fail " + CALL + " code=" + codes.get(card) + " device=" + card);
    }
    awaitHealthy(stage, CARDS - codes.size());
    stage.pods(2);
    stage.awaitBegun(2);
    stage.driver("clear");
    awaitHealthy(stage, CARDS);
  }

  /** No figure is no fault: a slice of a card has none either. */
  private static void notSupported(Stage stage) throws IOException {
    stage.driver("fail " + CALL + " code=NOT_SUPPORTED");
    stage.pods(2);
    stage.awaitBegun(2);
    awaitHealthy(stage, CARDS);
    stage.driver("clear");
  }

  private static void hangs(Stage stage) throws IOException {
    stage.driver("hang " + CALL + " ms=15000 device=2");
    awaitHealthy(stage, CARDS - 1);
    stage.driver("clear"); // the call that hangs goes on hanging
    stage.pods(2);
    stage.awaitBegun(2);
    awaitHealthy(stage, CARDS);
  }

  /** A restart of the agent makes no card whole; what a reboot removes does. */
  private static void lasts(Stage stage, String line) throws IOException {
    stage.driver(line);
    awaitHealthy(stage, CARDS - 1);
    stage.pods(2);
    stage.awaitBegun(2);
    stage.driver("clear");
    stage.killAgent();
    stage.startAgent();
    stage.pause(Duration.ofSeconds(5));
    awaitHealthy(stage, CARDS - 1);
    stage.killAgent();
    Files.delete(stage.product().managerDir().resolve("checkpoints/health.json"));
    stage.startAgent();
    awaitHealthy(stage, CARDS);
  }
}
