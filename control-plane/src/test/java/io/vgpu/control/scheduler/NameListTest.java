package io.vgpu.control.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.FormatException;
import io.vgpu.claim.Names;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** Names read straight from a request's bytes are what a JSON parser reads. */
class NameListTest {
  private static final String ODD = "\"\\[]{},: \n\u00e9a-1\u0001";

  private static final List<String> REFUSED = List.of("the body is refused");

  private final ExtenderJson json = new ExtenderJson(Names.DEFAULT, true);

  @Property(tries = 3000)
  void readsWhatAParserReads(@ForAll long seed) {
    Random random = new Random(seed);
    StringBuilder text = new StringBuilder("{\"Nodes\":null,\"NodeNames\":[");
    for (int i = random.nextInt(4); i >= 0; i--) {
      text.append(random.nextInt(4) == 0 ? " " : "").append("\"node-").append(random.nextInt(9));
      text.append(random.nextInt(6) == 0 ? "\\u0041" : "").append('"').append(i == 0 ? "" : ",");
    }
    text.append(random.nextInt(4) == 0 ? "]\n} " : "]}");
    for (int i = random.nextInt(3); i > 0; i--) {
      int at = 26 + random.nextInt(text.length() - 26);
      text.setCharAt(at, ODD.charAt(random.nextInt(ODD.length())));
    }
    byte[] body = text.toString().getBytes(StandardCharsets.UTF_8);
    assertThat(ours(body)).as(text.toString()).isEqualTo(parsed(body));
  }

  private List<String> ours(byte[] body) {
    try {
      return List.copyOf(names(body));
    } catch (FormatException e) {
      return REFUSED;
    }
  }

  private NameList names(byte[] body) {
    return Objects.requireNonNull(json.args(body).nodeNames(), "names were sent");
  }

  private static List<String> parsed(byte[] body) {
    try {
      JsonNode names = ExtenderJson.JSON.readTree(body).get("NodeNames");
      List<String> read = new ArrayList<>();
      for (JsonNode n : names) {
        if (!n.isString()) {
          return REFUSED;
        }
        read.add(n.stringValue());
      }
      return read;
    } catch (JacksonException e) {
      return REFUSED;
    }
  }

  @Test
  void namesGoOutAsTheyCameIn() {
    byte[] body = "{\"NodeNames\":[\"a\", \"b-1\"]}".getBytes(StandardCharsets.UTF_8);
    NameList names = names(body);
    assertThat(names).containsExactly("a", "b-1");
    assertThat(written(names)).isEqualTo("\"a\"\"b-1\"");
    assertThat(written(NameList.of(List.of("q\"", "é")))).isEqualTo("\"q\\\"\"\"é\"");
    assertThat(NameList.of(List.of("q\"", "é"))).containsExactly("q\"", "é");
  }

  private static String written(NameList names) {
    ByteSink out = new ByteSink(1);
    for (int i = 0; i < names.size(); i++) {
      names.write(i, out);
    }
    return new String(out.bytes(), 0, out.size(), StandardCharsets.UTF_8);
  }
}
