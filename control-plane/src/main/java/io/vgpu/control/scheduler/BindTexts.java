package io.vgpu.control.scheduler;

/** What bind says when it cannot (control-plane.md 4.1); tools of others look for these words. */
final class BindTexts {
  static final String NO_NODE = "ExtenderBindingArgs.Node cannot be empty";
  static final String NO_POD =
      "ExtenderBindingArgs.PodName, PodNamespace and PodUID cannot be empty";
  static final String DELETING = "pod is being deleted";
  static final String BUSY = "another bind of this pod is under way";

  private BindTexts() {}

  static String notFound(String name) {
    return "pods \"" + name + "\" not found";
  }

  static String otherUid(String requested) {
    return "different uid \"" + requested + "\" from the target pod";
  }

  static String bound(String node) {
    return "pod has been bound to node \"" + node + "\"";
  }

  static String unknown(String cause) {
    return "outcome of the Binding is unknown: " + cause;
  }

  static String tooLarge(long bytes, int limit) {
    return "the allocation would bring the pod's annotations to "
        + bytes
        + " bytes, over the limit of "
        + limit;
  }
}
