package io.vgpu.e2e.junit;

import java.util.Locale;

/**
 * The namespace that belongs to the running test class alone; gone, with all in it, before the next
 * class.
 */
public record TestNamespace(String name) {
  static TestNamespace of(Class<?> testClass) {
    String simple = testClass.getSimpleName().replaceAll("([a-z0-9])([A-Z])", "$1-$2");
    return new TestNamespace("test-" + simple.toLowerCase(Locale.ROOT));
  }
}
