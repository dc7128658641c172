/*
 * Counts of calls, and calls that a test made fail. FAKE_CUDA_FAIL="cuMemAlloc_v2:3:2:1,…": calls from the 3rd on of that
 * function, one of them (all if left out), answer code 2 without doing anything.
 */
#include <stdio.h>

#include "driver.h"

enum { FAULTS = 16 };
static struct fault {
  char name[64];
  unsigned long long from, count;
  int code;
} faults[FAULTS];
static int fault_count;
static _Atomic int faults_read; /* 0 not yet, 1 yes */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct call_site *sites;

static void read_faults(void) {
  const char *text = getenv("FAKE_CUDA_FAIL");
  while (text != NULL && *text != '\0' && fault_count < FAULTS) {
    struct fault f = {.count = UINT64_MAX};
    int n = sscanf(text, "%63[A-Za-z0-9_]:%llu:%d:%llu", f.name, &f.from, &f.code, &f.count);
    if (n >= 3) {
      faults[fault_count++] = f;
    } else {
      (void)fprintf(stderr, "FAKE_CUDA_FAIL: \"%.80s\" is not FUNCTION:FROM:CODE[:COUNT]\n", text);
    }
    text += strcspn(text, ",");
    if (*text == ',') text++;
  }
  atomic_store(&faults_read, 1);
}

static void add_site(struct call_site *site) {
  (void)pthread_mutex_lock(&lock);
  if (faults_read == 0) read_faults();
  if (site->known == 0) {
    site->next = sites;
    sites = site;
    atomic_store(&site->known, 2);
  }
  (void)pthread_mutex_unlock(&lock);
}

static CUresult fault_of(const char *name, unsigned long long number) {
  for (int i = 0; i < fault_count; i++) {
    const struct fault *f = &faults[i];
    if (strcmp(f->name, name) == 0 && number >= f->from && number - f->from < f->count) return (CUresult)f->code;
  }
  return CUDA_SUCCESS;
}

CUresult call_begin(struct call_site *site) {
  if (atomic_load_explicit(&site->known, memory_order_acquire) != 2) add_site(site);
  unsigned long long number = atomic_fetch_add_explicit(&site->count, 1, memory_order_relaxed) + 1;
  return fault_count == 0 ? CUDA_SUCCESS : fault_of(site->name, number);
}

/* For tests: how often this process called a function of the fake, and all together for null. */
unsigned long long fakeCudaCalls(const char *name);
unsigned long long fakeCudaCalls(const char *name) {
  unsigned long long sum = 0;
  (void)pthread_mutex_lock(&lock);
  for (const struct call_site *s = sites; s != NULL; s = s->next) {
    if (name == NULL || strcmp(s->name, name) == 0) sum += s->count;
  }
  (void)pthread_mutex_unlock(&lock);
  return sum;
}
