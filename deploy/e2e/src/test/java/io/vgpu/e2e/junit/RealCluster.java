package io.vgpu.e2e.junit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The test class runs on the real cluster. It may take parameters of type {@link
 * io.vgpu.e2e.cluster.Cluster}, {@link TestNamespace} and {@link SharedCluster}; the cluster is
 * clean when the class begins.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(ClusterExtension.class)
public @interface RealCluster {}
