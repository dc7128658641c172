/* Writing lines without stdio: a program's own buffers, locks and locale stay its own. */
#include "log.h"

#include <stdatomic.h>

#include "sys.h"
#include "text.h"

static atomic_int lines;

/* 0 to 9999, or -1: a number of ours is a short one, everything else is not one. */
static int small_number(const char *s) {
  int value = 0, digits = 0;
  for (; *s >= '0' && *s <= '9' && digits < 4; s++, digits++) value = value * 10 + (*s - '0');
  return digits > 0 && *s == '\0' ? value : -1;
}

static int setting(const char *name, int otherwise) {
  const char *text = text_environment(name);
  int value = text == NULL ? -1 : small_number(text);
  return value < 0 ? otherwise : value;
}

void vgpu_log(enum vgpu_log_level level, const char *what, const char *detail, int64_t number) {
  if ((int)level > setting("CUDA_SHIM_LOG", VGPU_LOG_ERROR)) return;
  if (atomic_fetch_add_explicit(&lines, 1, memory_order_relaxed) >= VGPU_LOG_LINES) return;
  char line[400] = "vgpu: ";
  text_append(line, sizeof line - 1, what);
  if (detail != NULL) {
    text_append(line, sizeof line - 1, ": ");
    text_append(line, sizeof line - 1, detail);
  }
  if (number != -1) {
    text_append(line, sizeof line - 1, number < 0 ? " (-" : " (");
    text_append_number(line, sizeof line - 1, number < 0 ? (uint64_t)0 - (uint64_t)number : (uint64_t)number);
    text_append(line, sizeof line - 1, ")");
  }
  size_t n = text_length(line);
  line[n] = '\n';
  (void)sys_write(setting("CUDA_SHIM_LOG_FD", 2), line, n + 1);
}
