/* Looking up the rows of hooks.def in the loaded driver. Whoever needs the table first builds one; one is kept. */
#include "driver.h"

#include "loader.h"
#include "sys.h"
#include "text.h"

_Atomic(const struct vgpu_cuda *) vgpu_cuda_table;
_Atomic(const struct vgpu_nvml *) vgpu_nvml_table;

/*
 * ---- the rows. Names lie in one object and are found by offset, entry points come from code: pointers in a table would
 * be relocations, which every process would pay for when it starts, also the many that never see a GPU.
 */

#define NONE CU_GET_PROC_ADDRESS_DEFAULT
#define LEGACY CU_GET_PROC_ADDRESS_LEGACY_STREAM
#define THREAD CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM

/* clang-format off */
static const struct names {
#define CU(name, base, since, flavor, class, params, args) char n_##name[sizeof #name], b_##name[sizeof #base];
#define NV(name, class, params, args) char n_##name[sizeof #name];
#include "hooks.def"
#define CALL(name, params) char c_##name[sizeof #name];
#define NVCALL(name, params) char c_##name[sizeof #name];
#include "calls.def"
} names = {
#define CU(name, base, since, flavor, class, params, args) #name, #base,
#define NV(name, class, params, args) #name,
#include "hooks.def"
#define CALL(name, params) #name,
#define NVCALL(name, params) #name,
#include "calls.def"
};
/* clang-format on */

struct row {
  uint16_t name, base; /* offsets in `names` */
  int since;
  uint8_t flag;
};
#define AT(member) ((uint16_t)offsetof(struct names, member))
_Static_assert(sizeof(struct names) < 0xFFFF, "offsets fit");

static const struct row cuda_rows[] = {
#define CU(name, base, since, flavor, class, params, args) {AT(n_##name), AT(b_##name), since, flavor},
#include "hooks.def"
#define CALL(name, params) {AT(c_##name), 0, 0, 0},
#include "calls.def"
};

static const struct row nvml_rows[] = {
#define NV(name, class, params, args) {AT(n_##name), 0, 0, 0},
#include "hooks.def"
#define NVCALL(name, params) {AT(c_##name), 0, 0, 0},
#include "calls.def"
};

enum {
  CUDA_ROWS = sizeof cuda_rows / sizeof cuda_rows[0],
  NVML_ROWS = sizeof nvml_rows / sizeof nvml_rows[0],
  MAP_SLOTS = 1024 /* at least three times the addresses that can be in it */
};
_Static_assert(sizeof(struct vgpu_cuda) == CUDA_ROWS * sizeof(void *), "one pointer a row");
_Static_assert(sizeof(struct vgpu_nvml) == NVML_ROWS * sizeof(void *), "one pointer a row");
_Static_assert(MAP_SLOTS >= 3 * 2 * CUDA_ROWS, "the map stays thin");

#define CU(name, base, since, flavor, class, params, args) extern CUresult vgpu_entry_##name params;
#define NV(name, class, params, args) extern nvmlReturn_t vgpu_entry_##name params;
#include "hooks.def"

/* Null for the rows of calls.def, which are nobody's to be led to. */
/* clang-format off */
static void *cuda_entry(size_t row) {
  switch (row) {
#define CU(name, base, since, flavor, class, params, args) \
  case offsetof(struct vgpu_cuda, name) / sizeof(void *): return (void *)vgpu_entry_##name;
#include "hooks.def"
    default: return NULL;
  }
}

static void *nvml_entry(size_t row) {
  switch (row) {
#define NV(name, class, params, args) \
  case offsetof(struct vgpu_nvml, name) / sizeof(void *): return (void *)vgpu_entry_##name;
#include "hooks.def"
    default: return NULL;
  }
}
/* clang-format on */

/* ---- from the driver's address to ours: by address, since the driver has applied its rules of names and versions */

struct pair {
  void *address, *entry;
};

struct table {
  union {
    struct vgpu_cuda cuda;
    struct vgpu_nvml nvml;
    void *rows[CUDA_ROWS];
  };
  bool present[CUDA_ROWS];
  struct pair map[MAP_SLOTS];
};

static size_t map_slot(void *address) { return (size_t)(((uintptr_t)address >> 2) * 0x9E3779B97F4A7C15u >> 54) % MAP_SLOTS; }

/* The first name of an address wins: aliases have one signature (checks on the rows see to it). */
static void map_add(struct table *t, void *address, void *entry) {
  if (address == NULL || entry == NULL || address == entry) return;
  size_t i = map_slot(address);
  while (t->map[i].address != NULL && t->map[i].address != address) i = (i + 1) % MAP_SLOTS;
  if (t->map[i].address == NULL) t->map[i] = (struct pair){address, entry};
}

static void *map_find(const struct table *t, void *address) {
  for (size_t i = map_slot(address); t->map[i].address != NULL; i = (i + 1) % MAP_SLOTS) {
    if (t->map[i].address == address) return t->map[i].entry;
  }
  return NULL;
}

void *vgpu_entry_for(void *address) {
  void *entry = NULL;
  const struct table *cuda = (const struct table *)atomic_load_explicit(&vgpu_cuda_table, memory_order_acquire);
  if (address != NULL && cuda != NULL) entry = map_find(cuda, address);
  const struct table *nvml = (const struct table *)atomic_load_explicit(&vgpu_nvml_table, memory_order_acquire);
  if (address != NULL && nvml != NULL && entry == NULL) entry = map_find(nvml, address);
  return entry != NULL ? entry : address;
}

/* ---- building a table */

static CUresult absent_cuda(void) { return CUDA_ERROR_NOT_SUPPORTED; }
static nvmlReturn_t absent_nvml(void) { return NVML_ERROR_FUNCTION_NOT_FOUND; }

static const char *text_at(uint16_t offset) { return (const char *)&names + offset; }

static void fill(struct table *t, void *library, const struct row *rows, size_t count, void *(*entry)(size_t), void *absent) {
  for (size_t i = 0; i < count; i++) {
    void *address = vgpu_loader()->symbol(library, text_at(rows[i].name));
    t->present[i] = address != NULL;
    t->rows[i] = address != NULL ? address : absent;
    map_add(t, address, entry(i));
  }
}

/* What cuGetProcAddress gives may differ from what dlsym gives, so both lead to us. */
static void fill_by_version(struct table *t) {
  bool five = t->present[offsetof(struct vgpu_cuda, cuGetProcAddress_v2) / sizeof(void *)];
  if (!five && !t->present[offsetof(struct vgpu_cuda, cuGetProcAddress) / sizeof(void *)]) return;
  for (size_t i = 0; i < CUDA_ROWS; i++) {
    const struct row *row = &cuda_rows[i];
    if (row->since == 0) continue;
    void *address = NULL;
    CUdriverProcAddressQueryResult status;
    CUresult result = five ? t->cuda.cuGetProcAddress_v2(text_at(row->base), &address, row->since, row->flag, &status)
                           : t->cuda.cuGetProcAddress(text_at(row->base), &address, row->since, row->flag);
    /* an older ABI of the name is another row's address, which is in the map by its own name */
    if (result == CUDA_SUCCESS && address != NULL && map_find(t, address) == NULL) map_add(t, address, cuda_entry(i));
  }
}

static void *library_handle(const char *name, bool open) {
  const struct vgpu_loader *loader = vgpu_loader();
  if (loader->open == NULL || loader->symbol == NULL) return NULL;
  int flags = VGPU_RTLD_NOW | VGPU_RTLD_NODELETE; /* we keep its addresses for ever */
  void *handle = loader->open(name, flags | VGPU_RTLD_NOLOAD);
  return handle == NULL && open ? loader->open(name, flags) : handle;
}

const struct vgpu_cuda *vgpu_cuda(bool open) {
  const struct vgpu_cuda *known = atomic_load_explicit(&vgpu_cuda_table, memory_order_acquire);
  if (known != NULL) return known;
  void *library = library_handle("libcuda.so.1", open);
  struct table *t = library == NULL ? NULL : sys_pages(sizeof *t);
  if (t == NULL) return NULL;
  fill(t, library, cuda_rows, CUDA_ROWS, cuda_entry, (void *)absent_cuda);
  fill_by_version(t);
  if (atomic_compare_exchange_strong(&vgpu_cuda_table, &known, &t->cuda)) return &t->cuda;
  (void)sys_munmap(t, sizeof *t);
  return known;
}

const struct vgpu_nvml *vgpu_nvml(bool open) {
  const struct vgpu_nvml *known = atomic_load_explicit(&vgpu_nvml_table, memory_order_acquire);
  if (known != NULL) return known;
  void *library = library_handle("libnvidia-ml.so.1", open);
  struct table *t = library == NULL ? NULL : sys_pages(sizeof *t);
  if (t == NULL) return NULL;
  fill(t, library, nvml_rows, NVML_ROWS, nvml_entry, (void *)absent_nvml);
  if (atomic_compare_exchange_strong(&vgpu_nvml_table, &known, &t->nvml)) return &t->nvml;
  (void)sys_munmap(t, sizeof *t);
  return known;
}

/* ---- names */

bool vgpu_hooked_name(const char *name, bool *present, void **entry) {
  bool of_cuda = name[0] == 'c';
  const struct row *rows = of_cuda ? cuda_rows : nvml_rows;
  for (size_t i = 0; i < (size_t)(of_cuda ? CUDA_ROWS : NVML_ROWS); i++) {
    void *own = text_equal(text_at(rows[i].name), name) ? (of_cuda ? cuda_entry(i) : nvml_entry(i)) : NULL;
    if (own == NULL) continue;
    const struct table *t = of_cuda ? (const struct table *)vgpu_cuda(false) : (const struct table *)vgpu_nvml(false);
    *present = t != NULL && t->present[i];
    *entry = own;
    return true;
  }
  return false;
}
