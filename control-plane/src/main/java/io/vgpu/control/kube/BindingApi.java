package io.vgpu.control.kube;

import io.vgpu.control.cluster.PodRecord;
import io.vgpu.model.PodRef;
import java.util.List;
import java.util.Map;

/**
 * The calls that a bind may make of the API server. They block, so they belong on virtual threads;
 * what goes wrong is an answer, not an exception.
 */
public interface BindingApi {
  /**
   * The one commit call (D1).
   *
   * @param resourceVersion that the plan was made for; empty leaves only the UID as precondition
   * @param annotations merged into the pod together with its node name
   */
  record Binding(PodRef pod, String resourceVersion, String node, Map<String, String> annotations) {
    public Binding {
      annotations = Map.copyOf(annotations);
    }
  }

  /** How a Binding went. */
  sealed interface Posted {
    /** Written. */
    record Done() implements Posted {}

    /** The API server refused: nothing was written by this request. */
    record Refused(int code, String message) implements Posted {}

    /** No answer, or one that does not say: it may have been written, or still be. */
    record Unknown(String cause) implements Posted {}
  }

  /** A pod as the API server has it now. */
  sealed interface Found {
    /** It exists. */
    record Present(PodRecord pod) implements Found {}

    /** It does not. */
    record Absent() implements Found {}

    /** The API server did not say. */
    record Unreadable(String cause) implements Found {}
  }

  /** The pods that are bound to a node, as the API server has them now. */
  sealed interface OnNode {
    /** All of them. */
    record Pods(List<PodRecord> all) implements OnNode {
      public Pods {
        all = List.copyOf(all);
      }
    }

    /** The API server did not say. */
    record Unreadable(String cause) implements OnNode {}
  }

  /** Posts a Binding. */
  Posted post(Binding binding);

  /** Reads a pod. */
  Found read(String namespace, String name);

  /** Lists the pods of a node, never from a cache that may be behind. */
  OnNode onNode(String node);
}
