package io.vgpu.agent.cgroup;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Shapes of {@code /proc/<pid>/cgroup} on nodes, and what must not be taken for one. */
class CgroupFileTest {
  private static final String UID = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";
  private static final String SLICE = UID.replace('-', '_');
  private static final String ID = "3f".repeat(32);
  private static final String OTHER = "ab".repeat(32);

  record Shape(String name, String file, Optional<String> container) {
    @Override
    public String toString() {
      return name;
    }
  }

  private static Shape shape(String name, String file) {
    return new Shape(name, file, Optional.of(ID));
  }

  static Stream<Shape> shapes() {
    String burstable = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + SLICE;
    String v1 = "/kubepods/besteffort/pod" + UID + "/" + ID;
    return Stream.of(
        shape(
            "v2 systemd containerd",
            "0::" + burstable + ".slice/cri-containerd-" + ID + ".scope\n"),
        shape(
            "v2 systemd docker, guaranteed",
            "0::/kubepods.slice/kubepods-pod" + SLICE + ".slice/docker-" + ID + ".scope\n"),
        shape("v2 systemd CRI-O", "0::" + burstable + ".slice/crio-" + ID + ".scope\n"),
        shape(
            "v2 systemd CRI-O, one level more",
            "0::" + burstable + ".slice/crio-" + ID + ".scope/container\n"),
        shape(
            "v2 systemd without .scope", "0::" + burstable + ".slice/cri-containerd-" + ID + "\n"),
        shape("v2 systemd docker, the id alone", "0::" + burstable + ".slice/" + ID + "\n"),
        shape("v2 cgroupfs", "0::/kubepods/burstable/pod" + UID + "/" + ID + "\n"),
        shape("v2 cgroupfs CRI-O", "0::/kubepods/pod" + UID + "/crio-" + ID + "\n"),
        shape(
            "systemd kubelet over a cgroupfs containerd",
            "0::/system.slice/containerd.service/kubepods-burstable-pod"
                + SLICE
                + ".slice:cri-containerd:"
                + ID
                + "\n"),
        shape(
            "v1 cgroupfs",
            "12:devices:"
                + v1
                + "\n11:cpu,cpuacct:"
                + v1
                + "\n2:memory:"
                + v1
                + "\n1:name=systemd:"
                + v1
                + "\n"),
        shape("hybrid", "4:devices:" + v1 + "\n1:name=systemd:" + v1 + "\n0::/\n"),
        shape(
            "hybrid, where only some hierarchies are the container's",
            "4:devices:" + v1 + "\n3:misc:/\n0::/system.slice/containerd.service\n"),
        shape(
            "one hierarchy ends at the pod",
            "4:devices:" + v1 + "\n0::/kubepods/besteffort/pod" + UID + "\n"),
        shape(
            "a kubelet with --cgroup-root (kind)",
            "0::/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod"
                + SLICE
                + ".slice/cri-containerd-"
                + ID
                + ".scope\n"),
        shape(
            "a node that is a container",
            "0::/docker/" + OTHER + "/kubelet/kubepods/burstable/pod" + UID + "/" + ID + "\n"),
        shape(
            "a container in the container",
            "0::" + burstable + ".slice/cri-containerd-" + ID + ".scope/docker/" + OTHER + "\n"),
        shape(
            "systemd in the container",
            "0::" + burstable + ".slice/cri-containerd-" + ID + ".scope/init.scope\n"),
        new Shape(
            "a pod without a level for containers",
            "0::/system.slice/pod" + UID,
            Optional.empty()));
  }

  @ParameterizedTest
  @MethodSource("shapes")
  void isRead(Shape shape) {
    assertThat(CgroupFile.owner(shape.file())).contains(new CgroupOwner(UID, shape.container()));
  }

  @Test
  void aStaticPodHasAUidWithoutDashes() {
    String uid = "0123456789abcdef".repeat(2);
    assertThat(CgroupFile.owner("0::/kubepods/burstable/pod" + uid + "/" + ID))
        .contains(new CgroupOwner(uid, Optional.of(ID)));
  }

  @Test
  void aTenantCannotNameAnotherPodFromWithin() {
    String inside = "/kubepods/pod" + UID + "/" + ID;
    String other = "ffffffff-4e5f-6071-8293-a4b5c6d7e8f9";
    assertThat(CgroupFile.owner("0::" + inside + "/kubepods/pod" + other + "/" + OTHER))
        .contains(new CgroupOwner(UID, Optional.of(ID)));
    assertThat(
            CgroupFile.owner(
                "0::" + inside + "\n3:misc:/kubepods/pod" + other + "/" + OTHER + "\n"))
        .as("two pods are none")
        .isEmpty();
    assertThat(CgroupFile.owner("0::" + inside + "\n3:misc:/kubepods/pod" + UID + "/" + OTHER))
        .as("two containers are none")
        .isEmpty();
  }

  @Test
  void whatIsNoContainersHasNoOwner() {
    for (String file :
        List.of(
            "",
            "0::/\n",
            "0::/user.slice/user-0.slice/session-1.scope\n",
            "0::/system.slice/docker-" + ID + ".scope\n",
            "0::/kubepods.slice/kubepods-burstable.slice\n",
            "0::/kubepods/pod" + UID.substring(1) + "/" + ID,
            "0::/kubepods/pod" + UID.replaceFirst("-", "_") + "/" + ID,
            "0::/kubepods/pod" + UID + "/crio-conmon-" + ID,
            "/kubepods/pod" + UID + "/" + ID,
            "0::/" + "x".repeat(5000) + "/pod" + UID + "/" + ID)) {
      assertThat(CgroupFile.owner(file)).as(file).isEmpty();
    }
  }

  @Property
  void whatANodeWritesIsReadBack(
      @ForAll("uids") String uid, @ForAll("ids") String id, @ForAll("places") Place place) {
    assertThat(CgroupFile.owner(place.file(uid, id)))
        .contains(new CgroupOwner(uid, Optional.of(id)));
  }

  @Property
  void anyTextHasAtMostOneSoundOwner(@ForAll("pieces") List<String> pieces) {
    // the record itself refuses what is not sound
    CgroupFile.owner(String.join("", pieces))
        .ifPresent(owner -> assertThat(owner.podUid()).isNotEmpty());
  }

  /** How one node names its cgroups. */
  record Place(boolean systemd, String root, String qos, String runtime, String below, boolean v1) {
    String file(String uid, String id) {
      String pod;
      String container;
      if (systemd) {
        String kubepods = (root.isEmpty() ? "" : root + "-") + "kubepods";
        String parent = qos.isEmpty() ? kubepods : kubepods + "-" + qos;
        pod = "/" + kubepods + ".slice/" + parent + "-pod" + uid.replace('-', '_') + ".slice";
        container = runtime + "-" + id + ".scope";
      } else {
        pod = (root.isEmpty() ? "" : "/" + root) + "/kubepods/" + qos + "/pod" + uid;
        container = id;
      }
      String path = pod + "/" + container + below;
      return v1 ? "9:devices:" + path + "\n2:memory:" + path + "\n0::/\n" : "0::" + path + "\n";
    }
  }

  private static Arbitrary<String> hex(int length) {
    return Arbitraries.strings().withChars("0123456789abcdef").ofLength(length);
  }

  @Provide
  Arbitrary<String> uids() {
    return Combinators.combine(hex(8), hex(4), hex(4), hex(4), hex(12))
        .as((a, b, c, d, e) -> String.join("-", a, b, c, d, e));
  }

  @Provide
  Arbitrary<String> ids() {
    return hex(64);
  }

  @Provide
  Arbitrary<Place> places() {
    return Combinators.combine(
            Arbitraries.of(true, false),
            Arbitraries.of("", "kubelet"),
            Arbitraries.of("", "burstable", "besteffort"),
            Arbitraries.of("cri-containerd", "docker", "crio", "runtime0"),
            Arbitraries.of("", "/init.scope", "/kubepods/podx", "/a:b"),
            Arbitraries.of(true, false))
        .as(Place::new);
  }

  @Provide
  Arbitrary<List<String>> pieces() {
    return Arbitraries.oneOf(
            Arbitraries.strings().ofMaxLength(8),
            Arbitraries.of(
                "0::",
                "1:cpu:",
                "\n",
                "/",
                ":",
                "pod",
                UID,
                SLICE,
                ID,
                OTHER,
                "crio-",
                "docker-",
                ".scope",
                ".slice",
                ":cri-containerd:",
                "kubepods-",
                "\0",
                "%s"))
        .list()
        .ofMaxSize(24);
  }

  @Test
  void aPidIsLookedUpWhereTheHostsProcessesAre(@TempDir Path proc) throws IOException {
    Files.createDirectory(proc.resolve("41"));
    Files.writeString(proc.resolve("41/cgroup"), "0::/kubepods/pod" + UID + "/" + ID + "\n");
    CgroupPids pids = new CgroupPids(proc);
    assertThat(pids.owner(41)).contains(new CgroupOwner(UID, Optional.of(ID)));
    assertThat(pids.owner(42)).as("gone").isEmpty();
  }
}
