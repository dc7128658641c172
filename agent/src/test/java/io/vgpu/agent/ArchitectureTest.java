package io.vgpu.agent;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.vertx.core.Vertx;
import java.util.concurrent.ThreadFactory;
import org.junit.jupiter.api.Test;

/** The rules of architecture.md 2 that concern the agent, one each, with their reasons. */
class ArchitectureTest {
  private static final JavaClasses AGENT =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("io.vgpu.agent");

  @Test
  void nativeCodeIsCalledInTwoPackagesOnly() {
    noClasses()
        .that()
        .resideOutsideOfPackages("io.vgpu.agent.gpu.nvml..", "io.vgpu.agent.posix..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("com.sun.jna..")
        .because("a native call may block or crash: it must be findable")
        .check(AGENT);
  }

  @Test
  void theKubernetesClientIsUsedInKubeOnly() {
    noClasses()
        .that()
        .resideOutsideOfPackages("io.vgpu.agent.kube..", "io.vgpu.agent")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.fabric8.kubernetes.client..")
        .because("its calls block and its callbacks come on its own threads")
        .check(AGENT);
  }

  @Test
  void protocolTypesStayWithTheProtocols() {
    noClasses()
        .that()
        .resideOutsideOfPackages("io.vgpu.agent.kubelet..", "io.vgpu.agent.deviceplugin..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("com.google.protobuf..", "io.grpc..", "k8s..")
        .because("cards and regions must not know who asks for them")
        .check(AGENT);
  }

  @Test
  void arithmeticKnowsNoFramework() {
    noClasses()
        .that()
        .haveSimpleName("LimitsRule")
        .or()
        .haveSimpleName("XidRules")
        .or()
        .haveSimpleName("DeviceSelection")
        .or()
        .haveSimpleName("NodeMetadata")
        .or()
        .resideInAPackage("io.vgpu.agent.config..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.vertx..", "io.fabric8.kubernetes.client..", "com.sun.jna..")
        .because("it is tested with tables")
        .check(AGENT);
  }

  @Test
  void kafkaIsNotNeededOnANode() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("org.apache.kafka..")
        .because("facts leave through the event transport")
        .check(AGENT);
  }

  @Test
  void theBusIsReachedThroughItsPort() {
    noClasses()
        .should()
        .callMethod(Vertx.class, "eventBus")
        .because("untyped messages cannot be followed")
        .check(AGENT);
  }

  @Test
  void timeAndEnvironmentAreHandedIn() {
    noClasses()
        .should()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .callMethod(System.class, "getenv", String.class)
        .orShould()
        .callMethod(System.class, "getenv")
        .orShould()
        .callMethod(Thread.class, "sleep", long.class)
        .because("tests move the clock, and flags are the only configuration")
        .check(AGENT);
  }

  @Test
  void threadsBelongToLanesAndExecutors() {
    noClasses()
        .should()
        .callConstructor(Thread.class)
        .orShould()
        .callConstructor(Thread.class, Runnable.class)
        .orShould()
        .callConstructor(Thread.class, Runnable.class, String.class)
        .orShould()
        .dependOnClassesThat()
        .areAssignableTo(ThreadFactory.class)
        .because("a thread without an owner has no bound")
        .check(AGENT);
  }

  @Test
  void packagesFormNoCycle() {
    slices().matching("io.vgpu.agent.(**)").should().beFreeOfCycles().check(AGENT);
  }
}
