package io.vgpu.e2e.junit;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.vgpu.e2e.cluster.Await;
import io.vgpu.e2e.cluster.Cluster;
import java.time.Duration;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * What {@link RealCluster} does. Cleans before a class rather than after it, so that a failure can
 * be looked at.
 */
public final class ClusterExtension
    implements BeforeAllCallback, AfterAllCallback, ParameterResolver {
  private static final ExtensionContext.Namespace STORE =
      ExtensionContext.Namespace.create(ClusterExtension.class);

  @Override
  public void beforeAll(ExtensionContext context) {
    SharedCluster shared = shared(context);
    boolean used = shared.isStarted();
    Cluster cluster = shared.get();
    if (used) {
      cluster.cleanUp();
    }
    String namespace = TestNamespace.of(context.getRequiredTestClass()).name();
    cluster
        .client()
        .resource(
            new NamespaceBuilder().withNewMetadata().withName(namespace).endMetadata().build())
        .create();
    // pods cannot be made before the controller-manager has made their account
    Await.until(
        "the default service account of " + namespace,
        Duration.ofSeconds(30),
        () ->
            cluster.client().serviceAccounts().inNamespace(namespace).withName("default").get()
                != null);
  }

  /**
   * Processes of ours must not outlive the class that started them and write into the next one's
   * cluster.
   */
  @Override
  public void afterAll(ExtensionContext context) {
    SharedCluster shared = shared(context);
    if (shared.isStarted() && !shared.isKept()) {
      shared.get().stopProcesses();
    }
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return type == Cluster.class || type == TestNamespace.class || type == SharedCluster.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    if (type == Cluster.class) {
      return shared(context).get();
    }
    return type == SharedCluster.class
        ? shared(context)
        : TestNamespace.of(context.getRequiredTestClass());
  }

  /** In the root store: JUnit closes it when the whole run ends. */
  private static SharedCluster shared(ExtensionContext context) {
    return context
        .getRoot()
        .getStore(STORE)
        .getOrComputeIfAbsent("cluster", key -> new SharedCluster(), SharedCluster.class);
  }
}
