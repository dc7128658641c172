/* Parsing them: strictly, since half a number would be another limit than the one that was meant. */
#include "alias.h"

#include "log.h"
#include "text.h"

enum kind { SIZE, PERCENT };

#define MOST_BYTES ((uint64_t)1 << 48) /* more than any card has */

/* How far a suffix shifts; -1 for none of ours. */
static int shift_of(char suffix) {
  switch (suffix) {
    case 'K':
    case 'k': return 10;
    case 'M':
    case 'm': return 20;
    case 'G':
    case 'g': return 30;
    case 'T':
    case 't': return 40;
    default: return -1;
  }
}

static bool parse(const char *text, enum kind kind, uint64_t *out) {
  uint64_t most = kind == SIZE ? MOST_BYTES : 100, value = 0;
  if (*text < '0' || *text > '9') return false;
  for (; *text >= '0' && *text <= '9'; text++) {
    value = value * 10 + (uint64_t)(*text - '0');
    if (value > most) return false;
  }
  int shift = kind == SIZE && *text != '\0' ? shift_of(*text++) : 0;
  if (shift < 0 || *text != '\0' || value > most >> shift) return false;
  *out = value << shift;
  return true;
}

/* Index -1 stands for the name without one. */
static bool value_of(const char *name, int index, enum kind kind, uint64_t *out) {
  char full[48] = "";
  text_append(full, sizeof full, name);
  if (index >= 0) {
    text_append(full, sizeof full, "_");
    text_append_number(full, sizeof full, (uint64_t)index);
  }
  const char *text = text_environment(full);
  if (text == NULL) return false;
  if (parse(text, kind, out)) return true;
  text_append(full, sizeof full, "=");
  char line[128] = "";
  text_append(line, sizeof line, full);
  text_append(line, sizeof line, text);
  vgpu_log(VGPU_LOG_ERROR,
           kind == SIZE ? "not set, as it must be bytes up to 2^48, with K, M, G or T or without"
                        : "not set, as it must be a whole percentage from 0 to 100",
           line, -1);
  return false;
}

static bool value_of_either(const char *first, const char *second, int index, enum kind kind, uint64_t *out) {
  return value_of(first, index, kind, out) || value_of(second, index, kind, out);
}

bool vgpu_alias_limits(struct vgpu_limits *limits) {
  uint64_t memory_of_all = 0, cores_of_all = 0;
  bool any = false;
  (void)value_of_either("CUDA_MEM_LIMIT", "CUDA_DEVICE_MEMORY_LIMIT", -1, SIZE, &memory_of_all);
  (void)value_of_either("CUDA_CORE_LIMIT", "CUDA_DEVICE_SM_LIMIT", -1, PERCENT, &cores_of_all);
  for (int i = 0; i < VGPU_MAX_DEVICES; i++) {
    uint64_t memory = memory_of_all, cores = cores_of_all;
    (void)value_of_either("CUDA_MEM_LIMIT", "CUDA_DEVICE_MEMORY_LIMIT", i, SIZE, &memory);
    (void)value_of_either("CUDA_CORE_LIMIT", "CUDA_DEVICE_SM_LIMIT", i, PERCENT, &cores);
    bool compute = cores > 0 && cores < 100;
    if (memory == 0 && !compute) continue;
    struct vgpu_limits_device *d = &limits->devices[i];
    d->seq = 2;
    d->flags = VGPU_LIMIT_ACTIVE | (memory > 0 ? VGPU_LIMIT_MEMORY : 0) | (compute ? VGPU_LIMIT_COMPUTE : 0);
    d->mem_limit = d->mem_physical = memory;
    d->core_hard_permille = d->core_soft_permille = compute ? (uint32_t)cores * 10 : VGPU_PERMILLE_FULL;
    any = true;
  }
  return any;
}
