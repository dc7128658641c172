package io.vgpu.agent.notes;

import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/** A process that has the tenure until it is killed. */
final class TenureHolder {
  private TenureHolder() {}

  public static void main(String[] args) throws Exception {
    try (Tenure tenure = new Tenure(Path.of(args[0]))) {
      var unused = tenure.await(() -> {});
      System.out.println("held");
      while (tenure.isHeld()) {
        LockSupport.park();
      }
    }
  }
}
