package io.vgpu;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** The borders of this module (architecture.md 2); each rule says why it stands. */
class HouseRulesTest {
  private static final JavaClasses OURS =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("io.vgpu");

  @Test
  void theModelKnowsOnlyTheJdk() {
    noClasses()
        .that()
        .resideInAPackage("io.vgpu.model..")
        .should()
        .dependOnClassesThat()
        .resideOutsideOfPackages("java..", "io.vgpu.model..", "org.jspecify..")
        .because("values are read by everyone and must drag nobody along")
        .check(OURS);
  }

  @Test
  void textsKnowNoFramework() {
    noClasses()
        .that()
        .resideInAnyPackage("io.vgpu.claim..", "io.vgpu.event")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.vertx..", "io.fabric8..", "org.apache.kafka..")
        .because("policy and codecs are tested with tables, not with servers")
        .check(OURS);
  }

  @Test
  void fabric8StaysInKube() {
    noClasses()
        .that()
        .resideOutsideOfPackage("io.vgpu.kube..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.fabric8..")
        .because("one package knows the client")
        .check(OURS);
  }

  @Test
  void onlyThePortTouchesTheBus() {
    noClasses()
        .that()
        .resideOutsideOfPackage("io.vgpu.event.wire..")
        .should()
        .callMethod(io.vertx.core.Vertx.class, "eventBus")
        .because("facts travel typed")
        .check(OURS);
  }

  @Test
  void timeAndEnvironmentArePassedIn() {
    noClasses()
        .should()
        .callMethod(Thread.class, "sleep", long.class)
        .orShould()
        .callMethod(System.class, "currentTimeMillis")
        .because("a clock is passed, waiting is a timer's or a lane's")
        .check(OURS);
    noClasses()
        .that()
        .doNotHaveFullyQualifiedName("io.vgpu.runtime.EnvDefaults")
        .should()
        .callMethod(System.class, "getenv", String.class)
        .because("flags define configuration once (D15)")
        .check(OURS);
  }

  @Test
  void packagesHaveNoCycles() {
    slices()
        .matching("io.vgpu.(**)")
        .should()
        .beFreeOfCycles()
        .because("a reader can start anywhere and end somewhere")
        .check(OURS);
  }
}
