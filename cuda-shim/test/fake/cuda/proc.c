/*
 * cuGetProcAddress by the real rules: of the functions with that base name the newest that is not newer than the version
 * asked for, in the flavour asked for; a name that has no per-thread flavour is given out as it is. The driver itself has
 * a version (the profile's, or FAKE_CUDA_VERSION): what came later is not there.
 */
#include "driver.h"

struct row {
  const char *base;
  int since;
  bool thread; /* the per-thread flavour */
  void *address;
};

/* Every function by its linker name, so that no prototype is needed for an address. */
#define CU(name, base, since, flavor, class, params, args) extern char at_##name[] __asm__(#name);
#define NV(name, class, params, args)
#define PASS(name, reason)
#define EX(name, base, since, flavor) extern char at_##name[] __asm__(#name);
#include "extra.def"
#include "hooks.def"
#undef CU
#undef EX

#define CU(name, base, since, flavor, class, params, args) {#base, since, IS_##flavor, at_##name},
#define EX(name, base, since, flavor) {#base, since, IS_##flavor, at_##name},
#define IS_NONE false
#define IS_LEGACY false
#define IS_THREAD true

static const struct row ROWS[] = {
#include "extra.def"
#include "hooks.def"
};

CUresult cuDriverGetVersion(int *version);

static int driver_version(void) {
  static _Atomic int known;
  int version = known;
  if (version == 0) {
    const char *text = getenv("FAKE_CUDA_VERSION");
    version = text == NULL ? 0 : atoi(text);
    if (version <= 0 && cuDriverGetVersion(&version) != CUDA_SUCCESS) version = 13000;
    known = version;
  }
  return version;
}

/* The best row; *any: the name exists in some version. */
static const struct row *choose(const char *name, int version, bool thread, bool *any) {
  const struct row *best = NULL;
  int newest = driver_version();
  for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
    const struct row *r = &ROWS[i];
    if (strcmp(r->base, name) != 0 || r->since > newest || (r->thread && !thread)) continue;
    *any = true;
    if (r->since > version) continue;
    bool better = best == NULL || (r->thread && !best->thread) || (r->thread == best->thread && r->since > best->since);
    if (better) best = r;
  }
  return best;
}

static CUresult look_up(const char *symbol, void **pfn, int version, cuuint64_t flags, CUdriverProcAddressQueryResult *status) {
  bool any = false;
  if (symbol == NULL || pfn == NULL || flags > 2) return CUDA_ERROR_INVALID_VALUE;
  bool thread = flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  const struct row *r = choose(symbol, version, thread, &any);
  *pfn = r == NULL ? NULL : r->address;
  if (status != NULL) {
    *status = r != NULL ? CU_GET_PROC_ADDRESS_SUCCESS
              : any     ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                        : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char *symbol, void **pfn, int version, cuuint64_t flags) {
  ENTER_OPEN;
  return look_up(symbol, pfn, version, flags, NULL);
}

CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status) {
  ENTER_OPEN;
  return look_up(symbol, pfn, version, flags, status);
}
