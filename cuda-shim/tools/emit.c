#include "emit.h"

#include <inttypes.h>

static void indent(const struct emit *e) {
  for (int i = 1; i < e->depth; i++) (void)fputs("  ", e->out);
}

/* All that stands before a value. */
static void lead(struct emit *e, const char *name) {
  bool first = !e->started[e->depth];
  e->started[e->depth] = true;
  if (e->json) {
    if (!first) (void)fputc(',', e->out);
    if (name != NULL) (void)fprintf(e->out, "\"%s\":", name);
    return;
  }
  if (!e->after_dash) indent(e);
  e->after_dash = false;
  if (name != NULL) {
    (void)fprintf(e->out, "%s:", name);
  } else if (e->depth > 0) {
    (void)fputc('-', e->out);
  }
}

static void open_level(struct emit *e, const char *name, bool list) {
  lead(e, name);
  if (e->json) {
    (void)fputc(list ? '[' : '{', e->out);
  } else if (name != NULL) {
    (void)fputc('\n', e->out);
  } else if (e->depth > 0) {
    (void)fputc(' ', e->out);
    e->after_dash = true;
  }
  if (e->depth < EMIT_DEPTH - 1) e->depth++;
  e->started[e->depth] = false;
  e->in_list[e->depth] = list;
}

void emit_begin(struct emit *e, FILE *out, bool json) {
  *e = (struct emit){.out = out, .json = json};
  open_level(e, NULL, false);
}

void emit_close(struct emit *e) {
  if (e->json) (void)fputc(e->in_list[e->depth] ? ']' : '}', e->out);
  if (e->depth > 0) e->depth--;
}

void emit_end(struct emit *e) {
  emit_close(e);
  if (e->json) (void)fputc('\n', e->out);
}

void emit_open_object(struct emit *e, const char *name) { open_level(e, name, false); }
void emit_open_list(struct emit *e, const char *name) { open_level(e, name, true); }

static void finish(struct emit *e) {
  if (!e->json) (void)fputc('\n', e->out);
}

static void write_escaped(FILE *out, const char *text, bool quoted) {
  for (; *text != '\0'; text++) {
    unsigned char c = (unsigned char)*text;
    if (quoted && (c == '"' || c == '\\')) {
      (void)fprintf(out, "\\%c", c);
    } else if (c < 0x20 || c >= 0x7F) {
      (void)fprintf(out, "\\u%04x", c);
    } else {
      (void)fputc(c, out);
    }
  }
}

/* Text has a blank between what leads and the value. */
static void lead_value(struct emit *e, const char *name) {
  lead(e, name);
  if (!e->json) (void)fputc(' ', e->out);
}

void emit_text(struct emit *e, const char *name, const char *value) {
  lead_value(e, name);
  if (e->json) (void)fputc('"', e->out);
  write_escaped(e->out, value, e->json);
  if (e->json) (void)fputc('"', e->out);
  finish(e);
}

void emit_u64(struct emit *e, const char *name, uint64_t value) {
  lead_value(e, name);
  (void)fprintf(e->out, "%" PRIu64, value);
  finish(e);
}

void emit_i64(struct emit *e, const char *name, int64_t value) {
  lead_value(e, name);
  (void)fprintf(e->out, "%" PRId64, value);
  finish(e);
}

void emit_hex(struct emit *e, const char *name, uint32_t value) {
  lead_value(e, name);
  (void)fprintf(e->out, e->json ? "\"0x%08" PRIX32 "\"" : "0x%08" PRIX32, value);
  finish(e);
}
