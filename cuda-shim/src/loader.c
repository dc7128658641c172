/* Finds the loader's functions by reading the symbol tables of libc.so.6 (of libdl.so.2 before glibc 2.34). */
#include "loader.h"

#include <elf.h>
#pragma GCC visibility push(default) /* dl_iterate_phdr is libc's */
#include <link.h>
#pragma GCC visibility pop
#include <stdatomic.h>

#include "text.h"

struct tables {
  const ElfW(Sym) * symbols;
  const char *strings;
  const uint16_t *versions; /* or null */
  const uint32_t *gnu_hash;
  const uint32_t *hash;
  ElfW(Addr) base;
};

/* Some processors' loaders leave the pointers of the dynamic section as offsets. */
static const void *at(ElfW(Addr) base, ElfW(Addr) value) { return (const void *)(value < base ? base + value : value); }

static void read_tables(const ElfW(Dyn) * dynamic, ElfW(Addr) base, struct tables *t) {
  *t = (struct tables){.base = base};
  for (; dynamic->d_tag != DT_NULL; dynamic++) {
    const void *address = at(base, dynamic->d_un.d_ptr);
    switch (dynamic->d_tag) {
      case DT_SYMTAB: t->symbols = address; break;
      case DT_STRTAB: t->strings = address; break;
      case DT_VERSYM: t->versions = address; break;
      case DT_GNU_HASH: t->gnu_hash = address; break;
      case DT_HASH: t->hash = address; break;
      default: break;
    }
  }
}

/* The default version of the name, not one kept for old programs. */
static void *match(const struct tables *t, uint32_t i, const char *name) {
  const ElfW(Sym) *s = &t->symbols[i];
  if (s->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(s->st_info) != STT_FUNC) return NULL;
  if (t->versions != NULL && (t->versions[i] & 0x8000) != 0) return NULL;
  return text_equal(t->strings + s->st_name, name) ? (void *)(t->base + s->st_value) : NULL;
}

static void *find_gnu(const struct tables *t, const char *name) {
  uint32_t h = 5381;
  for (const char *c = name; *c != '\0'; c++) h = h * 33 + (unsigned char)*c;
  uint32_t buckets = t->gnu_hash[0], first = t->gnu_hash[1], bloom_words = t->gnu_hash[2];
  const uint32_t *bucket = t->gnu_hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / 4), *chain = bucket + buckets;
  if (buckets == 0) return NULL;
  uint32_t i = bucket[h % buckets];
  if (i < first) return NULL;
  for (;; i++) {
    uint32_t found = chain[i - first];
    if ((found | 1) == (h | 1)) {
      void *address = match(t, i, name);
      if (address != NULL) return address;
    }
    if ((found & 1) != 0) return NULL;
  }
}

static void *find(const struct tables *t, const char *name) {
  if (t->symbols == NULL || t->strings == NULL) return NULL;
  if (t->gnu_hash != NULL) return find_gnu(t, name);
  if (t->hash == NULL) return NULL;
  for (uint32_t i = 0; i < t->hash[1]; i++) {
    void *address = match(t, i, name);
    if (address != NULL) return address;
  }
  return NULL;
}

static int visit(struct dl_phdr_info *object, size_t size, void *data) {
  (void)size;
  const char *file = object->dlpi_name;
  for (const char *c = file; c != NULL && *c != '\0'; c++) {
    if (*c == '/') file = c + 1;
  }
  if (file == NULL || (!text_equal(file, "libc.so.6") && !text_equal(file, "libdl.so.2"))) return 0;
  struct vgpu_loader *loader = data;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    if (object->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    struct tables t;
    read_tables((const ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr), object->dlpi_addr, &t);
    void *open = find(&t, "dlopen"), *symbol = find(&t, "dlsym"), *versioned = find(&t, "dlvsym");
    if (open != NULL && symbol != NULL) {
      *(void **)&loader->open = open;
      *(void **)&loader->symbol = symbol;
      *(void **)&loader->versioned = versioned;
      return 1;
    }
  }
  return 0;
}

const struct vgpu_loader *vgpu_loader(void) {
  static struct vgpu_loader found;
  static atomic_bool ready;
  if (!atomic_load_explicit(&ready, memory_order_acquire)) {
    struct vgpu_loader loader = {NULL, NULL, NULL};
    (void)dl_iterate_phdr(visit, &loader);
    /* several threads may do this at once and find the same */
    __atomic_store_n((void **)&found.open, *(void **)&loader.open, __ATOMIC_RELAXED);
    __atomic_store_n((void **)&found.symbol, *(void **)&loader.symbol, __ATOMIC_RELAXED);
    __atomic_store_n((void **)&found.versioned, *(void **)&loader.versioned, __ATOMIC_RELAXED);
    /* libdl may come later, on an old glibc: keep looking until it is there */
    atomic_store_explicit(&ready, loader.symbol != NULL, memory_order_release);
  }
  return &found;
}
