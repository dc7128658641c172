package io.vgpu.agent.gpu.nvml;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;
import io.vgpu.agent.gpu.GpuDriverException;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.Map;
import java.util.OptionalInt;

/**
 * The NVML library through JNA: functions bound by name, codes made into {@link
 * GpuDriverException}s. Functions are looked up one by one, not mapped as a class, because a class
 * cannot be mapped when one optional symbol is missing. Thread safe, as NVML is; every call may
 * block.
 */
final class NvmlLibrary {
  static final int SUCCESS = 0;
  static final int NOT_SUPPORTED = 3;
  static final int INSUFFICIENT_SIZE = 7;
  static final int FUNCTION_NOT_FOUND = 13;
  static final int TIMEOUT = 10;
  private static final int TEXT_BYTES = 96;

  private final Map<NvmlCall, Function> functions = new EnumMap<>(NvmlCall.class);

  /** Loads the library from a path or by name; a missing required function is fatal, and named. */
  NvmlLibrary(String pathOrName) {
    NativeLibrary library;
    try {
      library = NativeLibrary.getInstance(pathOrName);
    } catch (UnsatisfiedLinkError e) {
      throw new GpuDriverException("dlopen(" + pathOrName + ")", 12, firstLine(e));
    }
    for (NvmlCall call : NvmlCall.values()) {
      try {
        functions.put(call, library.getFunction(call.symbol()));
      } catch (UnsatisfiedLinkError e) {
        if (!call.optional()) {
          throw new GpuDriverException(
              call.symbol(), FUNCTION_NOT_FOUND, pathOrName + " has no such function");
        }
      }
    }
  }

  /**
   * Calls and returns the code; {@link #FUNCTION_NOT_FOUND} for a symbol that the library lacks.
   */
  int code(NvmlCall call, Object... arguments) {
    Function function = functions.get(call);
    return function == null ? FUNCTION_NOT_FOUND : function.invokeInt(arguments);
  }

  /** Calls; any code but success is thrown. */
  void must(NvmlCall call, Object... arguments) {
    int code = code(call, arguments);
    if (code != SUCCESS) {
      throw failure(call, code);
    }
  }

  /** The exception for a code. */
  GpuDriverException failure(NvmlCall call, int code) {
    Function errorString = functions.get(NvmlCall.ERROR_STRING);
    Pointer text = errorString == null ? null : errorString.invokePointer(new Object[] {code});
    return new GpuDriverException(
        call.symbol(), code, text == null ? "unknown" : text.getString(0));
  }

  /** A text that the library writes into a buffer. */
  String systemText(NvmlCall call) {
    byte[] buffer = new byte[TEXT_BYTES];
    must(call, buffer, buffer.length);
    return text(buffer);
  }

  /** A text of a device. */
  String text(NvmlCall call, Pointer device) {
    byte[] buffer = new byte[TEXT_BYTES];
    must(call, device, buffer, buffer.length);
    return text(buffer);
  }

  /** A number of a device that it must have. */
  int number(NvmlCall call, Pointer device) {
    IntByReference out = new IntByReference();
    must(call, device, out);
    return out.getValue();
  }

  /** A number of a device, or nothing when the library or the device does not tell it. */
  OptionalInt numberIfTold(NvmlCall call, Pointer device) {
    IntByReference out = new IntByReference();
    return code(call, device, out) == SUCCESS
        ? OptionalInt.of(out.getValue())
        : OptionalInt.empty();
  }

  /** A structure of a device. */
  Memory struct(NvmlCall call, Pointer device, int bytes) {
    Memory out = zeroed(bytes);
    must(call, device, out);
    return out;
  }

  /** A handle that a function gives out. */
  Pointer handle(NvmlCall call, Object... argumentsBeforeOut) {
    PointerByReference out = new PointerByReference();
    Object[] arguments = new Object[argumentsBeforeOut.length + 1];
    System.arraycopy(argumentsBeforeOut, 0, arguments, 0, argumentsBeforeOut.length);
    arguments[argumentsBeforeOut.length] = out;
    must(call, arguments);
    return out.getValue();
  }

  static Memory zeroed(int bytes) {
    Memory memory = new Memory(bytes);
    memory.clear();
    return memory;
  }

  private static String text(byte[] buffer) {
    int end = 0;
    while (end < buffer.length && buffer[end] != 0) {
      end++;
    }
    return new String(buffer, 0, end, StandardCharsets.UTF_8);
  }

  private static String firstLine(UnsatisfiedLinkError e) {
    return String.valueOf(e.getMessage()).lines().findFirst().orElse("not found");
  }
}
