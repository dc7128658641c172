package io.vgpu.event;

import io.vgpu.testing.GeneratedDoc;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class EventsDocTest {
  @Test
  void theTableOfEventsFollowsTheCode() {
    StringBuilder page =
        new StringBuilder(
            """
            # Events

            Facts in the past tense; losing or repeating one is harmless to control. Made from `EventTypes.ALL`; a test keeps it so.

            | name | fields | topic | delivery |
            |---|---|---|---|
            """);
    for (EventType<?> type : EventTypes.ALL) {
      String fields =
          Arrays.stream(type.type().getRecordComponents())
              .map(c -> "`" + c.getName() + "`")
              .collect(Collectors.joining(" "));
      page.append(
          "| `%s` | %s | `%s` | %s |%n"
              .formatted(
                  type.name(),
                  fields,
                  type.topic(),
                  type.delivery().name().toLowerCase(Locale.ROOT).replace('_', ' ')));
    }
    GeneratedDoc.check("events.md", page.toString());
  }
}
