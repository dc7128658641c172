package io.vgpu.control.scheduler;

/** An HTTP answer. */
record Reply(int status, String contentType, String body) {
  static Reply json(String body) {
    return new Reply(200, "application/json", body);
  }

  static Reply text(int status, String body) {
    return new Reply(status, "text/plain; charset=utf-8", body);
  }
}
