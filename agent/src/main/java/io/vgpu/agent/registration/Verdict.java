package io.vgpu.agent.registration;

import java.util.Locale;

/** What came of one connection: the values of a label, so there are only these. */
enum Verdict {
  REGISTERED,
  /** Too many connections, in all or of this pod. */
  FULL,
  /** No whole frame in time. */
  SILENT,
  /** What was sent is no frame. */
  GARBLED,
  /** The kernel did not say who it is, or it has ended. */
  NOBODY,
  /** Its pod, if it has one, was given nothing by this agent. */
  UNKNOWN_POD,
  /** It is not of the container whose slot it names, or not the process that it says it is. */
  IMPOSTOR,
  /** It could not be found out now. */
  FAILED;

  String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
