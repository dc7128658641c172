package io.vgpu.control.simulate;

import io.vgpu.runtime.UsageException;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;

/**
 * A YAML value that knows where it stands, so that complaints name file, line and field; they are
 * {@link UsageException}s.
 */
final class YamlTree {
  private static final int LARGEST = 512 << 20;

  private final Path file;
  private final String field;
  private final Node node;

  private YamlTree(Path file, String field, Node node) {
    this.file = file;
    this.field = field;
    this.node = node;
  }

  /** Every object of the file: documents, and what lies in a List. */
  static List<YamlTree> objects(Path file) {
    LoadSettings settings =
        LoadSettings.builder().setCodePointLimit(LARGEST).setLabel(file.toString()).build();
    List<YamlTree> objects = new ArrayList<>();
    try (Reader reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
      for (Node document : new Compose(settings).composeAllFromReader(reader)) {
        YamlTree tree = new YamlTree(file, "", document);
        if (tree.text("kind").orElse("").endsWith("List")) {
          tree.child("items").ifPresent(items -> objects.addAll(items.items()));
        } else {
          objects.add(tree);
        }
      }
    } catch (IOException e) {
      throw new UsageException(file + ": cannot be read: " + e);
    } catch (MarkedYamlEngineException e) {
      int line = e.getProblemMark().map(m -> m.getLine() + 1).orElse(1);
      throw new UsageException(file + ":" + line + ": is not YAML: " + e.getProblem());
    } catch (YamlEngineException e) {
      throw new UsageException(file + ": is not YAML: " + e.getMessage());
    }
    return objects;
  }

  /** What is wrong with this value. */
  UsageException wrong(String rule) {
    int line = node.getStartMark().map(m -> m.getLine() + 1).orElse(1);
    String value = node instanceof ScalarNode s ? " \"" + shown(s.getValue()) + "\"" : "";
    return new UsageException(
        file + ":" + line + ": " + (field.isEmpty() ? "object" : field) + value + ": " + rule);
  }

  private static String shown(String text) {
    return text.length() <= 63 ? text : text.substring(0, 63) + "…";
  }

  private boolean isNull() {
    return node instanceof ScalarNode s && s.getTag().equals(Tag.NULL);
  }

  /** A field's value; empty where it is absent or null. */
  Optional<YamlTree> child(String name) {
    return Optional.ofNullable(children().get(name)).filter(c -> !c.isNull());
  }

  /** A field of a field, of a field. */
  Optional<YamlTree> at(String... path) {
    Optional<YamlTree> tree = Optional.of(this);
    for (String name : path) {
      tree = tree.flatMap(t -> t.child(name));
    }
    return tree;
  }

  /** All fields of a mapping. */
  Map<String, YamlTree> children() {
    if (!(node instanceof MappingNode mapping)) {
      throw wrong("must be a mapping");
    }
    Map<String, YamlTree> children = new LinkedHashMap<>();
    for (NodeTuple tuple : mapping.getValue()) {
      if (tuple.getKeyNode() instanceof ScalarNode key) {
        String at = field.isEmpty() ? key.getValue() : field + "." + key.getValue();
        children.put(key.getValue(), new YamlTree(file, at, tuple.getValueNode()));
      }
    }
    return children;
  }

  /** All elements of a list. */
  List<YamlTree> items() {
    if (!(node instanceof SequenceNode sequence)) {
      throw wrong("must be a list");
    }
    List<YamlTree> items = new ArrayList<>();
    for (Node item : sequence.getValue()) {
      // objects of a List stand for themselves; elements of a field say which
      String at = field.equals("items") ? "" : field + "[" + items.size() + "]";
      items.add(new YamlTree(file, at, item));
    }
    return items;
  }

  /** The text of a scalar. */
  String text() {
    if (!(node instanceof ScalarNode scalar)) {
      throw wrong("must be a text or a number");
    }
    return scalar.getValue();
  }

  /** The text of a field; empty where it is absent. */
  Optional<String> text(String name) {
    return child(name).map(YamlTree::text);
  }
}
