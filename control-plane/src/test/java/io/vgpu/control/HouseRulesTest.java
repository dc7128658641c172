package io.vgpu.control;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.vertx.core.Vertx;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.Standing;
import io.vgpu.control.scheduler.Allocator;
import io.vgpu.control.scheduler.policy.AllocationPolicy;
import io.vgpu.control.scheduler.policy.Look;
import org.junit.jupiter.api.Test;

/** The borders of the control plane (architecture.md 2); each rule says why it stands. */
class HouseRulesTest {
  private static final JavaClasses OURS =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("io.vgpu.control");

  @Test
  void policiesAndTheAllocatorKnowNoFramework() {
    noClasses()
        .that()
        .resideInAnyPackage(
            "io.vgpu.control.scheduler.policy..",
            "io.vgpu.control.packing..",
            "io.vgpu.control.simulate..")
        .or()
        .haveSimpleNameStartingWith("Allocator")
        .or()
        .haveSimpleName("ContainerWalk")
        .or()
        .haveSimpleName("Candidates")
        .or()
        .haveSimpleName("Needs")
        .or()
        .haveSimpleName("Ranking")
        .or()
        .haveSimpleName("PodMutator")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.vertx..", "io.fabric8.kubernetes.client..", "org.apache.kafka..")
        .because("policy is in and out, tested with tables, not with servers")
        .check(OURS);
  }

  @Test
  void theSimulatorAsksTheAllocator() {
    classes()
        .that()
        .haveFullyQualifiedName("io.vgpu.control.simulate.Looked")
        .should()
        .callMethod(Allocator.class, "assess", PodRequest.class, Standing.class, Look.class)
        .because("a replay that plans by itself says nothing about the scheduler")
        .check(OURS);
    noClasses()
        .that()
        .resideInAPackage("io.vgpu.control.simulate..")
        .and()
        .doNotHaveSimpleName("RandomChoice")
        .should()
        .implement(AllocationPolicy.class)
        .because("policies are the scheduler's; only chance is the simulator's own")
        .check(OURS);
  }

  @Test
  void theClientStaysInKube() {
    noClasses()
        .that()
        .resideOutsideOfPackages("..kube..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.fabric8.kubernetes.client..")
        .because("who decides must not be able to ask the API server")
        .check(OURS);
  }

  @Test
  void onlyThePortTouchesTheBus() {
    noClasses()
        .should()
        .callMethod(Vertx.class, "eventBus")
        .because("facts travel typed")
        .check(OURS);
  }

  @Test
  void timeThreadsAndEnvironmentArePassedIn() {
    noClasses()
        .should()
        .callMethod(Thread.class, "sleep", long.class)
        .orShould()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .callMethod(System.class, "getenv", String.class)
        .orShould()
        .callConstructor(Thread.class, Runnable.class)
        .because("a clock is passed, waiting is a timer's or a lane's, flags define configuration")
        .check(OURS);
  }

  @Test
  void packagesHaveNoCycles() {
    slices()
        .matching("io.vgpu.control.(*)..")
        .should()
        .beFreeOfCycles()
        .because(
            "a reader can start anywhere and end somewhere; a feature and its kube part are one")
        .check(OURS);
  }
}
