/*
 * Writes nested fields either as one JSON object or as indented text, so that what a region holds is said once for both.
 * Names are our own and need no escaping; texts are escaped.
 */
#ifndef VGPU_EMIT_H
#define VGPU_EMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { EMIT_DEPTH = 8 };

struct emit {
  FILE *out;
  bool json;
  int depth;
  bool started[EMIT_DEPTH]; /* something has been written on that level */
  bool in_list[EMIT_DEPTH];
  bool after_dash; /* text: the list's dash stands already on this line */
};

void emit_begin(struct emit *e, FILE *out, bool json);
void emit_end(struct emit *e);

/* A list's elements have a null name. */
void emit_open_object(struct emit *e, const char *name);
void emit_open_list(struct emit *e, const char *name);
void emit_close(struct emit *e);

void emit_text(struct emit *e, const char *name, const char *value);
void emit_u64(struct emit *e, const char *name, uint64_t value);
void emit_i64(struct emit *e, const char *name, int64_t value);
void emit_hex(struct emit *e, const char *name, uint32_t value);

#endif
