/* Reads a loaded object's symbol table: the one way to an address that a preloaded library cannot stand before. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

#include "gpu.h"

struct wanted {
  const char *object;
  const char *name;
  void *found;
};

static uint32_t symbols_by_gnu_hash(const uint32_t *table) {
  uint32_t buckets = table[0];
  uint32_t first = table[1];
  const uint32_t *bucket = table + 4 + table[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
  const uint32_t *chain = bucket + buckets;
  uint32_t last = 0;
  for (uint32_t i = 0; i < buckets; i++) {
    if (bucket[i] > last) {
      last = bucket[i];
    }
  }
  if (last < first) {
    return first;
  }
  while ((chain[last - first] & 1U) == 0) {
    last++;
  }
  return last + 1;
}

static int look(struct dl_phdr_info *info, size_t size, void *data) {
  struct wanted *wanted = data;
  (void)size;
  const char *base = strrchr(info->dlpi_name, '/');
  if (strncmp(base == NULL ? info->dlpi_name : base + 1, wanted->object, strlen(wanted->object)) != 0) {
    return 0;
  }
  for (int i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) {
      continue;
    }
    const ElfW(Dyn) *dynamic = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    const ElfW(Sym) *symbols = NULL;
    const char *strings = NULL;
    uint32_t count = 0;
    for (; dynamic->d_tag != DT_NULL; dynamic++) {
      const void *at = (const void *)dynamic->d_un.d_ptr;
      if (dynamic->d_tag == DT_SYMTAB) {
        symbols = at;
      } else if (dynamic->d_tag == DT_STRTAB) {
        strings = at;
      } else if (dynamic->d_tag == DT_HASH) {
        count = ((const uint32_t *)at)[1];
      } else if (dynamic->d_tag == DT_GNU_HASH && count == 0) {
        count = symbols_by_gnu_hash(at);
      }
    }
    for (uint32_t s = 0; symbols != NULL && strings != NULL && s < count; s++) {
      if (symbols[s].st_shndx != SHN_UNDEF && strcmp(strings + symbols[s].st_name, wanted->name) == 0) {
        wanted->found = (void *)(info->dlpi_addr + symbols[s].st_value);
        return 1;
      }
    }
  }
  return 0;
}

void *symbol_of(const char *object, const char *name) {
  struct wanted wanted = {object, name, NULL};
  dl_iterate_phdr(look, &wanted);
  return wanted.found;
}

const char *owner_of(const void *address) {
  Dl_info info;
  return dladdr(address, &info) != 0 && info.dli_fname != NULL ? info.dli_fname : "?";
}
