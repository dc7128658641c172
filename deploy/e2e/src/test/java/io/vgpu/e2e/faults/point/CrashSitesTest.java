package io.vgpu.e2e.faults.point;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.notes.Checkpoint;
import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.instruction.ConstantInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CrashSitesTest {
  private static byte[] of(String name) throws IOException {
    try (InputStream in = Checkpoint.class.getResourceAsStream("/" + name + ".class")) {
      return in.readAllBytes();
    }
  }

  /** What is called in a method, in order; a look by its label. */
  private static List<String> calls(byte[] bytes, String method) {
    ClassModel model = ClassFile.of().parse(bytes);
    List<String> calls = new ArrayList<>();
    String constant = "";
    for (var m : model.methods()) {
      if (!m.methodName().equalsString(method)) {
        continue;
      }
      for (var e : m.code().orElseThrow()) {
        if (e instanceof ConstantInstruction c && c.constantValue() instanceof String s) {
          constant = s;
        } else if (e instanceof InvokeInstruction i) {
          calls.add(i.name().equalsString("at") ? "look: " + constant : i.name().stringValue());
        }
      }
    }
    return calls;
  }

  @Test
  void beforeEachChangeOfADiskThereIsALook() throws IOException {
    String name = "io/vgpu/agent/notes/Checkpoint";
    List<String> calls = calls(CrashSites.transformed(name, of(name)), "write");
    for (String effect : List.of("write", "force", "move")) {
      assertThat(calls)
          .containsSubsequence(
              "look: Checkpoint.write: "
                  + (effect.equals("move") ? "Files." : "FileChannel.")
                  + effect,
              effect);
    }
    assertThat(ClassFile.of().verify(CrashSites.transformed(name, of(name)))).isEmpty();
    List<String> plain = calls(of(name), "write");
    assertThat(calls.stream().filter(c -> !c.startsWith("look: ")).toList())
        .as("nothing else is changed")
        .isEqualTo(plain);
  }

  @Test
  void eachQuestionOfTheKubeletIsAStepAndSoIsEachAnswer() throws IOException {
    String name = "io/vgpu/agent/deviceplugin/DevicePluginService";
    byte[] bytes = CrashSites.transformed(name, of(name));
    for (String question : List.of("getPreferredAllocation", "allocate", "preStartContainer")) {
      assertThat(calls(bytes, question).getFirst())
          .isEqualTo("look: DevicePluginService." + question + ": asked");
    }
    assertThat(calls(bytes, "answer"))
        .containsSubsequence(
            "look: DevicePluginService.answer: StreamObserver.onNext",
            "onNext",
            "look: DevicePluginService.answer: StreamObserver.onCompleted",
            "onCompleted");
  }

  @Test
  void otherClassesStayAsTheyAre() throws IOException {
    String name = "io/vgpu/agent/gpu/NodeGpus";
    assertThat(new CrashSites().transform(null, name, null, null, of(name))).isNull();
  }
}
