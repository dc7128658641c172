package io.vgpu.control.scheduler;

import io.vertx.core.buffer.Buffer;

/** An HTTP answer. */
record Reply(int status, String contentType, Buffer body) {
  static Reply json(String body) {
    return json(Buffer.buffer(body));
  }

  static Reply json(Buffer body) {
    return new Reply(200, "application/json", body);
  }

  static Reply text(int status, String body) {
    return new Reply(status, "text/plain; charset=utf-8", Buffer.buffer(body));
  }
}
