package io.vgpu.agent.config;

import io.vgpu.agent.gpu.DeviceSelection;
import io.vgpu.agent.gpu.MigStrategy;
import io.vgpu.agent.inject.ListStrategy;
import io.vgpu.model.NodeConfig;
import io.vgpu.runtime.Nearest;
import io.vgpu.runtime.UsageException;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * The file of {@code --node-config-path} (node-agent.md 3.1): the first entry whose {@code
 * nodeName} matches applies. Shape, keys and names of the whole file are checked, other values of
 * the entry that applies. Every refusal is a {@link UsageException} that names file, entry, line,
 * key, value and rule.
 */
public final class NodeFile {
  private static final int MAX_BYTES = 1 << 20;
  private static final int MAX_PATTERN = 1000;
  private static final List<String> KEYS =
      List.of(
          "nodeName",
          "cgroupDriver",
          "deviceListStrategy",
          "deviceSplitCount",
          "deviceMemoryScaling",
          "deviceMemoryFactor",
          "deviceCoresScaling",
          "excludeDevices",
          "gdsEnabled",
          "mofedEnabled",
          "gdrcopyEnabled",
          "migStrategy",
          "mpsDevices",
          "openKernelModules",
          "imex");
  private static final List<String> IMEX_KEYS = List.of("channelIDs", "required");
  private static final List<String> STRATEGIES =
      Arrays.stream(ListStrategy.values()).map(ListStrategy::word).toList();

  private final String file;
  private final List<Value.Fields> entries;

  private NodeFile(String file, List<Value.Fields> entries) {
    this.file = file;
    this.entries = entries;
  }

  /** Reads the file; its suffix decides the format. */
  public static NodeFile read(Path path) {
    String name = String.valueOf(path.getFileName());
    boolean yaml = name.endsWith(".yaml") || name.endsWith(".yml");
    if (!yaml && !name.endsWith(".json")) {
      throw new UsageException(path + ": must end with .json, .yaml or .yml");
    }
    try {
      if (Files.size(path) > MAX_BYTES) {
        throw new UsageException(path + ": " + Files.size(path) + " bytes, at most " + MAX_BYTES);
      }
      return parse(path.toString(), Files.readString(path, StandardCharsets.UTF_8), yaml);
    } catch (CharacterCodingException e) {
      throw new UsageException(path + ": must be UTF-8 text");
    } catch (IOException e) {
      throw new UsageException(path + ": cannot be read: " + e.getMessage());
    }
  }

  /** Reads the text of a file that is called {@code file} in messages. */
  static NodeFile parse(String file, String text, boolean yaml) {
    Value root;
    try {
      root = ValueReader.read(text, yaml);
    } catch (UsageException e) {
      throw new UsageException(file + ": " + e.getMessage());
    }
    Value list = yaml ? configs(file, root) : root;
    if (!(list instanceof Value.Items items)) {
      throw new UsageException(file + ": line " + list.line() + ": must be a list of entries");
    }
    List<Value.Fields> entries = new ArrayList<>();
    for (Value item : items.values()) {
      if (!(item instanceof Value.Fields fields)) {
        throw new UsageException(
            file
                + ": entry "
                + (entries.size() + 1)
                + ", line "
                + item.line()
                + ": must be an object");
      }
      for (Value.Field field : fields.fields()) {
        checkKnown(file + ": entry " + (entries.size() + 1), field, KEYS);
      }
      new Entry(file + ": entry " + (entries.size() + 1), fields(fields)).checkName();
      entries.add(fields);
    }
    return new NodeFile(file, List.copyOf(entries));
  }

  private static Value configs(String file, Value root) {
    if (!(root instanceof Value.Fields fields)) {
      throw new UsageException(file + ": must hold version and configs");
    }
    Value configs = new Value.Items(root.line(), List.of());
    for (Value.Field field : fields.fields()) {
      checkKnown(file, field, List.of("version", "configs"));
      if (field.key().equals("configs")) {
        configs = field.value();
      } else {
        String version = field.value().toString();
        boolean none = field.value() instanceof Value.Scalar s && s.kind() == Value.Kind.NULL;
        if (!none && !version.isEmpty() && !version.equals("v1")) {
          throw new UsageException(
              file + ": line " + field.line() + ": version: \"" + version + "\" must be v1");
        }
      }
    }
    return configs;
  }

  private static void checkKnown(String where, Value.Field field, List<String> known) {
    if (!known.contains(field.key())) {
      throw new UsageException(
          where
              + ", line "
              + field.line()
              + ": unknown key \""
              + field.key()
              + "\""
              + Nearest.closest(field.key(), known)
                  .map(n -> " (nearest known: " + n + ")")
                  .orElse(""));
    }
  }

  /** What applies to the node: its first matching entry, or nothing. */
  public NodeFileEntry entryFor(String nodeName) {
    for (int i = 0; i < entries.size(); i++) {
      Entry entry = new Entry(file + ": entry " + (i + 1), fields(entries.get(i)));
      if (entry.matches(nodeName)) {
        return entry.read();
      }
    }
    return NodeFileEntry.NONE;
  }

  private static Map<String, Value.Field> fields(Value.Fields fields) {
    Map<String, Value.Field> byKey = new HashMap<>();
    fields.fields().forEach(f -> byKey.put(f.key(), f));
    return byKey;
  }

  /**
   * Exact after trimming, else as a pattern, anchored on both sides unless it has an anchor of its
   * own.
   */
  static boolean matches(String pattern, String nodeName) {
    String trimmed = pattern.strip();
    return trimmed.equals(nodeName.strip()) || compiled(trimmed).matcher(nodeName.strip()).find();
  }

  private static Pattern compiled(String trimmed) {
    boolean anchored = trimmed.startsWith("^") || trimmed.endsWith("$");
    return Pattern.compile(anchored ? trimmed : "^(?:" + trimmed + ")$");
  }

  /** One entry, read field by field. */
  private record Entry(String where, Map<String, Value.Field> fields) {
    boolean matches(String nodeName) {
      return scalar("nodeName", Value.Kind.STRING, "a string")
          .map(s -> NodeFile.matches(s, nodeName))
          .orElse(false);
    }

    /** An entry that can never apply is a mistake of whoever wrote it, and is told. */
    void checkName() {
      String name = scalar("nodeName", Value.Kind.STRING, "a string").orElse("").strip();
      if (name.isEmpty()) {
        throw new UsageException(where + ": nodeName must be a node's name or a pattern of names");
      }
      if (name.length() > MAX_PATTERN) {
        throw bad(field("nodeName"), "must have at most " + MAX_PATTERN + " characters");
      }
      try {
        compiled(name);
      } catch (PatternSyntaxException e) {
        throw bad(
            field("nodeName"), "is neither a name nor a regular expression: " + e.getDescription());
      }
    }

    NodeFileEntry read() {
      checkCgroupDriver();
      return new NodeFileEntry(
          strategies(),
          integer("deviceSplitCount", 1, 100_000),
          decimal("deviceMemoryScaling"),
          integer("deviceMemoryFactor", 1, Integer.MAX_VALUE),
          decimal("deviceCoresScaling"),
          excluded(),
          mig(),
          mps(),
          bool("openKernelModules"),
          bool("gdsEnabled"),
          bool("mofedEnabled"),
          bool("gdrcopyEnabled"),
          imex());
    }

    private UsageException bad(Value.Field field, String rule) {
      return new UsageException(
          where
              + ", line "
              + field.line()
              + ": "
              + field.key()
              + ": \""
              + field.value()
              + "\" "
              + rule);
    }

    private Optional<String> scalar(String key, Value.Kind kind, String what) {
      Value.Field field = fields.get(key);
      if (field == null || field.value() instanceof Value.Scalar s && s.kind() == Value.Kind.NULL) {
        return Optional.empty();
      }
      if (field.value() instanceof Value.Scalar s && s.kind() == kind) {
        return Optional.of(s.text());
      }
      throw bad(field, "must be " + what);
    }

    private Value.Field field(String key) {
      return Objects.requireNonNull(fields.get(key));
    }

    private OptionalInt integer(String key, int min, int max) {
      Optional<String> text = scalar(key, Value.Kind.NUMBER, "a whole number");
      if (text.isEmpty()) {
        return OptionalInt.empty();
      }
      String rule = "must be a whole number, " + min + " to " + max;
      try {
        int value = Integer.parseInt(text.get());
        if (value < min || value > max) {
          throw bad(field(key), rule);
        }
        return OptionalInt.of(value);
      } catch (NumberFormatException e) {
        throw bad(field(key), rule);
      }
    }

    private OptionalDouble decimal(String key) {
      Optional<String> text = scalar(key, Value.Kind.NUMBER, "a number");
      if (text.isEmpty()) {
        return OptionalDouble.empty();
      }
      String rule = "must be a number above 0, at most " + (int) NodeConfig.MAX_SCALING;
      try {
        double value = Double.parseDouble(text.get());
        if (!(value > 0 && value <= NodeConfig.MAX_SCALING)) {
          throw bad(field(key), rule);
        }
        return OptionalDouble.of(value);
      } catch (NumberFormatException e) {
        throw bad(field(key), rule);
      }
    }

    private Optional<Boolean> bool(String key) {
      return scalar(key, Value.Kind.BOOLEAN, "true or false").map(Boolean::parseBoolean);
    }

    private Optional<List<String>> strategies() {
      Value.Field field = fields.get("deviceListStrategy");
      if (field == null) {
        return Optional.empty();
      }
      List<String> names = texts(field);
      if (names.isEmpty() || !STRATEGIES.containsAll(names)) {
        throw bad(field, "must name one or more of " + String.join(", ", STRATEGIES));
      }
      return Optional.of(names);
    }

    private Optional<DeviceSelection> excluded() {
      Value.Field field = fields.get("excludeDevices");
      if (field == null) {
        return Optional.empty();
      }
      try {
        return Optional.of(DeviceSelection.of(texts(field)));
      } catch (UsageException e) {
        throw bad(field, "cannot be used: " + e.getMessage());
      }
    }

    /** A string of comma-separated items, or a list of strings and numbers. */
    private List<String> texts(Value.Field field) {
      List<Value> values =
          field.value() instanceof Value.Items items ? items.values() : List.of(field.value());
      List<String> texts = new ArrayList<>();
      for (Value value : values) {
        if (value instanceof Value.Scalar s
            && (s.kind() == Value.Kind.STRING || s.kind() == Value.Kind.NUMBER)) {
          for (String item : s.text().split(",", -1)) {
            if (!item.isBlank()) {
              texts.add(item.strip());
            }
          }
        } else {
          throw bad(field, "must be a string, or a list of strings and numbers");
        }
      }
      return List.copyOf(texts);
    }

    private Optional<String> mig() {
      Optional<String> strategy = scalar("migStrategy", Value.Kind.STRING, "a string");
      if (strategy.filter(s -> MigStrategy.of(s).isEmpty()).isPresent()) {
        throw bad(field("migStrategy"), "must be none, single or mixed");
      }
      return strategy;
    }

    private Optional<MpsDevices> mps() {
      Value.Field field = fields.get("mpsDevices");
      if (field == null) {
        return Optional.empty();
      }
      try {
        return Optional.of(MpsDevices.of(texts(field)));
      } catch (UsageException e) {
        throw bad(field, "cannot be used: " + e.getMessage());
      }
    }

    /** The object stands for itself: what it leaves out is off, whatever the flags say. */
    private Optional<AgentConfig.Imex> imex() {
      Value.Field field = fields.get("imex");
      if (field == null) {
        return Optional.empty();
      }
      if (!(field.value() instanceof Value.Fields object)) {
        throw bad(field, "must be an object with channelIDs and required");
      }
      object.fields().forEach(f -> checkKnown(where + ": imex", f, IMEX_KEYS));
      Entry imex = new Entry(where + ": imex", NodeFile.fields(object));
      return Optional.of(
          new AgentConfig.Imex(imex.channelIds(), imex.bool("required").orElse(false)));
    }

    private List<Integer> channelIds() {
      Value.Field field = fields.get("channelIDs");
      if (field == null
          || field.value() instanceof Value.Scalar s && s.kind() == Value.Kind.NULL
          || field.value() instanceof Value.Items items && items.values().isEmpty()) {
        return List.of();
      }
      if (!texts(field).equals(List.of("0"))) {
        throw bad(field, "must be an empty list or [0]");
      }
      return List.of(0);
    }

    private void checkCgroupDriver() {
      if (scalar("cgroupDriver", Value.Kind.STRING, "a string")
          .filter(name -> !name.isEmpty() && !CgroupDriver.isOne(name))
          .isPresent()) {
        throw bad(field("cgroupDriver"), CgroupDriver.RULE);
      }
    }
  }
}
