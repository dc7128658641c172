package io.vgpu.e2e.faults.point;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Puts {@link CrashPoint#at} before every call of the agent's own classes that changes something
 * outside of the process: files and folders, answers to the kubelet, patches of pods; and at the
 * beginning of each of the kubelet's questions. Other classes stay as they are.
 */
final class CrashSites implements ClassFileTransformer {
  private static final Set<String> PACKAGES =
      Set.of(
          "io/vgpu/agent/notes/",
          "io/vgpu/agent/deviceplugin/",
          "io/vgpu/agent/shim/",
          "io/vgpu/agent/kube/");

  private static final Map<String, Set<String>> EFFECTS =
      Map.of(
          "java/nio/file/Files",
          Set.of(
              "createDirectory",
              "createDirectories",
              "createFile",
              "delete",
              "deleteIfExists",
              "move",
              "setPosixFilePermissions",
              "write",
              "writeString"),
          "java/nio/channels/FileChannel",
          Set.of("force", "map", "truncate", "write"),
          "io/grpc/stub/StreamObserver",
          Set.of("onNext", "onCompleted", "onError"),
          "io/vgpu/kube/MergePatch",
          Set.of("send"));

  private static final Map<String, Set<String>> QUESTIONS =
      Map.of(
          "io/vgpu/agent/deviceplugin/DevicePluginService",
          Set.of("getPreferredAllocation", "allocate", "preStartContainer"));

  private static final ClassDesc POINT = ClassDesc.of("io.vgpu.e2e.faults.point.CrashPoint");
  private static final MethodTypeDesc AT =
      MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_String);

  @Override
  public byte @Nullable [] transform(
      @Nullable ClassLoader loader,
      @Nullable String name,
      @Nullable Class<?> redefined,
      @Nullable ProtectionDomain domain,
      byte[] bytes) {
    if (name == null || PACKAGES.stream().noneMatch(name::startsWith)) {
      return null; // unchanged
    }
    try {
      return transformed(name, bytes);
    } catch (RuntimeException e) {
      // the JVM would pass over it in silence, and points would be missing
      System.err.println("no crash points in " + name + ": " + e);
      Runtime.getRuntime().halt(1);
      return null;
    }
  }

  static byte[] transformed(String name, byte[] bytes) {
    ClassFile files = ClassFile.of();
    ClassModel model = files.parse(bytes);
    ClassTransform methods =
        (builder, element) -> {
          if (element instanceof MethodModel m && m.code().isPresent()) {
            builder.transformMethod(
                m, MethodTransform.transformingCode(code(name, m.methodName().stringValue())));
          } else {
            builder.with(element);
          }
        };
    return files.transformClass(model, methods);
  }

  private static CodeTransform code(String owner, String method) {
    String site = simple(owner) + "." + readable(method);
    CodeTransform effects =
        (builder, element) -> {
          if (element instanceof InvokeInstruction call && isEffect(call)) {
            look(
                builder,
                site
                    + ": "
                    + simple(call.owner().asInternalName())
                    + "."
                    + call.name().stringValue());
          }
          builder.with(element);
        };
    boolean question = QUESTIONS.getOrDefault(owner, Set.of()).contains(method);
    return question ? effects.andThen(beginning(site + ": asked")) : effects;
  }

  private static CodeTransform beginning(String label) {
    return new CodeTransform() {
      @Override
      public void atStart(CodeBuilder builder) {
        look(builder, label);
      }

      @Override
      public void accept(CodeBuilder builder, CodeElement element) {
        builder.with(element);
      }
    };
  }

  private static void look(CodeBuilder builder, String label) {
    builder.loadConstant(label).invokestatic(POINT, "at", AT);
  }

  private static boolean isEffect(InvokeInstruction call) {
    return EFFECTS
        .getOrDefault(call.owner().asInternalName(), Set.of())
        .contains(call.name().stringValue());
  }

  private static String simple(String internalName) {
    return internalName.substring(internalName.lastIndexOf('/') + 1);
  }

  /** {@code lambda$save$0} is a part of {@code save}. */
  private static String readable(String method) {
    return method.replaceFirst("^lambda\\$([^$]+)\\$\\d+$", "$1");
  }
}
