#include "profile.h"

#include <stdio.h>
#include <string.h>

#include "codes.h"
#include "line.h"

static const char *const MIG_MODES[] = {"unsupported", "disabled", "enabled", NULL};
static const char *const LEVELS[] = {"internal", "single", "multiple", "hostbridge", "node", "system", NULL};
static const char *const ECC_TYPES[] = {"single", "double", NULL};
static const char *const PROCESS_TYPES[] = {"compute", "graphics", NULL};

enum { MAX_LINKS = NVML_NVLINK_MAX_LINKS };

/* What a directive's function may look at. */
struct context {
  struct fake_profile *p;
  struct line *l;
  uint64_t now;
  bool control;
};

void fake_profile_init(struct fake_profile *p) {
  memset(p, 0, sizeof *p);
  memset(p->pcie_level, 0xFF, sizeof p->pcie_level);
}

static int device_of(struct context *c, int word) { return line_index(c->l, word, "device", c->p->device_count); }

/* A device by index, or every one by the word `all`. */
static int device_or_all(struct context *c, int word) {
  if (word < c->l->words && strcmp(c->l->word[word], "all") == 0) return FAKE_ALL_DEVICES;
  return device_of(c, word);
}

static void check_room(struct context *c, int count, int bound, const char *what) {
  if (count >= bound) line_fail(c->l, what, "more than %d of them", bound);
}

/* Exactly n hexadecimal digits. */
static bool parse_hex(const char *text, int n, unsigned *out) {
  *out = 0;
  for (int i = 0; i < n; i++) {
    const char *digits = "0123456789abcdef";
    char lower = text[i] >= 'A' && text[i] <= 'F' ? (char)(text[i] - 'A' + 'a') : text[i];
    const char *digit = lower == '\0' ? NULL : strchr(digits, lower);
    if (digit == NULL) return false;
    *out = *out * 16 + (unsigned)(digit - digits);
  }
  return true;
}

static void parse_pci(struct line *l, const char *field, const char *text, struct fake_pci *out) {
  struct fake_pci pci;
  if (text == NULL) return;
  if (strlen(text) != 16 || !parse_hex(text, 8, &pci.domain) || text[8] != ':' || !parse_hex(text + 9, 2, &pci.bus) ||
      text[11] != ':' || !parse_hex(text + 12, 2, &pci.device) || strcmp(text + 14, ".0") != 0 || pci.device > 31) {
    line_fail(l, field, "\"%.60s\" is not a PCI address such as 00000000:3B:00.0", text);
    return;
  }
  *out = pci;
}

static bool same_pci(struct fake_pci a, struct fake_pci b) {
  return a.domain == b.domain && a.bus == b.bus && a.device == b.device;
}

static void check_uuid(struct context *c, const char *uuid, const char *prefix) {
  if (c->l->failed) return;
  if (strncmp(uuid, prefix, strlen(prefix)) != 0 || strlen(uuid) != strlen(prefix) + 36) {
    line_fail(c->l, "uuid", "\"%s\" is not %s and 36 characters", uuid, prefix);
  }
  for (int d = 0; d < c->p->device_count; d++) {
    const struct fake_device *dev = &c->p->devices[d];
    bool same = strcmp(dev->uuid, uuid) == 0;
    for (int m = 0; m < FAKE_MIGS; m++) same = same || (dev->migs[m].present && strcmp(dev->migs[m].uuid, uuid) == 0);
    if (same) line_fail(c->l, "uuid", "\"%s\" is device %d's already", uuid, d);
  }
}

static void do_system(struct context *c) {
  struct fake_profile *p = c->p;
  if (p->has_system) line_fail(c->l, "system", "given twice");
  line_copy(c->l, "driver", p->driver, sizeof p->driver);
  line_copy(c->l, "nvml", p->nvml, sizeof p->nvml);
  (void)line_text(c->l, "cuda", true);
  p->cuda = (int)line_number(c->l, "cuda", 1000, 99999, 0);
  line_end(c->l, 1);
  p->has_system = true;
}

static void parse_capability(struct line *l, struct fake_device *dev) {
  const char *text = line_text(l, "cc", true);
  if (text == NULL) return;
  size_t n = strlen(text);
  size_t digits = strspn(text, "0123456789");
  if (digits < 1 || digits > 2 || n != digits + 2 || text[digits] != '.' || text[n - 1] < '0' || text[n - 1] > '9') {
    line_fail(l, "cc", "\"%.60s\" is not a compute capability such as 8.0", text);
    return;
  }
  dev->cc_major = digits == 2 ? (text[0] - '0') * 10 + (text[1] - '0') : text[0] - '0';
  dev->cc_minor = text[n - 1] - '0';
}

static void check_unique_device(struct context *c, const struct fake_device *dev) {
  for (int d = 0; d < c->p->device_count; d++) {
    const struct fake_device *other = &c->p->devices[d];
    if (other->minor == dev->minor) line_fail(c->l, "minor", "%u is device %d's already", dev->minor, d);
    if (same_pci(other->pci, dev->pci)) line_fail(c->l, "pci", "is device %d's already", d);
  }
}

static void do_device(struct context *c) {
  struct fake_profile *p = c->p;
  struct line *l = c->l;
  check_room(c, p->device_count, FAKE_DEVICES, "device");
  int index = line_index(l, 1, "device", FAKE_DEVICES);
  if (index != p->device_count) line_fail(l, "device", "%d comes where %d is next", index, p->device_count);
  struct fake_device dev = {.lost_at = FAKE_NEVER};
  line_copy(l, "name", dev.name, sizeof dev.name);
  line_copy(l, "uuid", dev.uuid, sizeof dev.uuid);
  check_uuid(c, dev.uuid, "GPU-");
  dev.minor = (unsigned)line_number(l, "minor", 0, 255, (uint64_t)index);
  parse_pci(l, "pci", line_text(l, "pci", true), &dev.pci);
  dev.pci_id = (unsigned)line_number(l, "pci-id", 0, UINT32_MAX, 0x000010DE);
  (void)line_text(l, "memory", true);
  dev.memory = line_bytes(l, "memory", UINT64_C(1) << 50, 0);
  dev.reserved = line_bytes(l, "reserved", UINT64_C(1) << 50, 0);
  if (dev.reserved > dev.memory) line_fail(l, "reserved", "is more than memory");
  parse_capability(l, &dev);
  (void)line_text(l, "cores", true);
  dev.cores = (unsigned)line_number(l, "cores", 1, 1u << 20, 0);
  dev.numa = (int)line_number(l, "numa", 0, 255, 256);
  dev.memory_numa = (int)line_number(l, "memory-numa", 0, 255, 256);
  if (dev.numa == 256) dev.numa = -1;
  if (dev.memory_numa == 256) dev.memory_numa = -1;
  dev.mig_mode = (enum fake_mig_mode)line_choice(l, "mig", MIG_MODES, FAKE_MIG_UNSUPPORTED);
  dev.event_types =
      line_number(l, "events", 0, UINT32_MAX,
                  nvmlEventTypeXidCriticalError | nvmlEventTypeDoubleBitEccError | nvmlEventTypeSingleBitEccError);
  check_unique_device(c, &dev);
  line_end(l, 2);
  if (!l->failed) p->devices[p->device_count++] = dev;
}

static void do_mig(struct context *c) {
  struct line *l = c->l;
  struct fake_device *dev = &c->p->devices[device_of(c, 1)];
  int index = line_index(l, 2, "mig", FAKE_MIGS);
  struct fake_mig mig = {.present = true};
  if (!l->failed && dev->mig_mode != FAKE_MIG_ENABLED) line_fail(l, "mig", "the device is not mig=enabled");
  if (!l->failed && dev->migs[index].present) line_fail(l, "mig", "%d given twice", index);
  line_copy(l, "uuid", mig.uuid, sizeof mig.uuid);
  check_uuid(c, mig.uuid, "MIG-");
  line_copy(l, "profile", mig.profile, sizeof mig.profile);
  (void)line_text(l, "gi", true);
  (void)line_text(l, "sms", true);
  (void)line_text(l, "memory", true);
  (void)line_text(l, "slices", true);
  mig.gi = (unsigned)line_number(l, "gi", 0, 255, 0);
  mig.ci = (unsigned)line_number(l, "ci", 0, 255, 0);
  nvmlDeviceAttributes_t *a = &mig.attributes;
  a->multiprocessorCount = (unsigned)line_number(l, "sms", 1, 4096, 0);
  a->memorySizeMB = line_bytes(l, "memory", dev->memory, 0) >> 20;
  a->gpuInstanceSliceCount = (unsigned)line_number(l, "slices", 1, 16, 0);
  a->computeInstanceSliceCount = (unsigned)line_number(l, "ci-slices", 1, 16, a->gpuInstanceSliceCount);
  a->sharedCopyEngineCount = (unsigned)line_number(l, "copy-engines", 0, 64, 1);
  a->sharedDecoderCount = (unsigned)line_number(l, "decoders", 0, 64, 0);
  a->sharedEncoderCount = (unsigned)line_number(l, "encoders", 0, 64, 0);
  a->sharedJpegCount = (unsigned)line_number(l, "jpeg", 0, 64, 0);
  a->sharedOfaCount = (unsigned)line_number(l, "ofa", 0, 64, 0);
  for (int m = 0; m < FAKE_MIGS; m++) {
    const struct fake_mig *other = &dev->migs[m];
    if (other->present && other->gi == mig.gi && other->ci == mig.ci) line_fail(l, "gi", "with this ci is mig %d's already", m);
  }
  line_end(l, 3);
  if (!l->failed) dev->migs[index] = mig;
}

static unsigned links_of(const struct fake_profile *p, int device) {
  unsigned sum = p->devices[device].switch_links;
  for (int d = 0; d < p->device_count; d++) sum += p->nvlinks[device][d];
  return sum;
}

static void check_links(struct context *c, int device) {
  unsigned n = links_of(c->p, device);
  if (n > MAX_LINKS) line_fail(c->l, "count", "device %d then has %u links, more than %d", device, n, (int)MAX_LINKS);
}

static void do_nvlink(struct context *c) {
  int a = device_of(c, 1), b = device_of(c, 2);
  if (a == b) line_fail(c->l, "device", "a link needs two of them");
  (void)line_text(c->l, "count", true);
  uint8_t n = (uint8_t)line_number(c->l, "count", 1, MAX_LINKS, 0);
  line_end(c->l, 3);
  if (c->l->failed) return;
  c->p->nvlinks[a][b] = c->p->nvlinks[b][a] = n;
  check_links(c, a);
  check_links(c, b);
}

static void do_nvswitch(struct context *c) {
  struct fake_profile *p = c->p;
  struct fake_pci pci = {0, 0, 0};
  check_room(c, p->switch_count, FAKE_SWITCHES, "nvswitch");
  if (c->l->words < 2) line_fail(c->l, "nvswitch", "has no PCI address");
  if (!c->l->failed) parse_pci(c->l, "nvswitch", c->l->word[1], &pci);
  line_end(c->l, 2);
  if (!c->l->failed) p->switches[p->switch_count++] = pci;
}

static void do_switch_links(struct context *c) {
  int device = device_or_all(c, 1);
  (void)line_text(c->l, "count", true);
  unsigned n = (unsigned)line_number(c->l, "count", 1, MAX_LINKS, 0);
  if (c->p->switch_count == 0) line_fail(c->l, "switch-links", "there is no nvswitch line before");
  line_end(c->l, 2);
  for (int d = 0; !c->l->failed && d < c->p->device_count; d++) {
    if (device != FAKE_ALL_DEVICES && device != d) continue;
    c->p->devices[d].switch_links = n;
    check_links(c, d);
  }
}

static void do_pcie(struct context *c) {
  int a = device_of(c, 1), b = device_of(c, 2);
  if (a == b) line_fail(c->l, "device", "a level needs two of them");
  (void)line_text(c->l, "level", true);
  uint8_t level = (uint8_t)(10 * line_choice(c->l, "level", LEVELS, 0));
  line_end(c->l, 3);
  if (!c->l->failed) c->p->pcie_level[a][b] = c->p->pcie_level[b][a] = level;
}

static void check_used(struct context *c, int device, uint64_t used) {
  for (int d = 0; used != FAKE_NO_BYTES && d < c->p->device_count; d++) {
    const struct fake_device *dev = &c->p->devices[d];
    if ((device == FAKE_ALL_DEVICES || device == d) && used > dev->memory - dev->reserved) {
      line_fail(c->l, "used", "is more than device %d has", d);
    }
  }
}

static void do_load(struct context *c) {
  struct fake_profile *p = c->p;
  check_room(c, p->load_count, FAKE_LOADS, "load");
  struct fake_load load = {.device = device_or_all(c, 1)};
  load.at = line_seconds(c->l, "at", c->now);
  load.util = (unsigned)line_number(c->l, "util", 0, 100, 0);
  load.mem_util = (unsigned)line_number(c->l, "mem-util", 0, 100, 0);
  load.used = line_bytes(c->l, "used", UINT64_C(1) << 50, FAKE_NO_BYTES);
  check_used(c, load.device, load.used);
  line_end(c->l, 2);
  if (!c->l->failed) p->loads[p->load_count++] = load;
}

/* A MIG device by `mig=`, -1 if the line names none. */
static int mig_of(struct context *c, int device) {
  int mig = (int)line_number(c->l, "mig", 0, FAKE_MIGS - 1, FAKE_MIGS);
  if (mig == FAKE_MIGS) return -1;
  if (!c->l->failed && !c->p->devices[device].migs[mig].present) line_fail(c->l, "mig", "device %d has no mig %d", device, mig);
  return mig;
}

static void do_process(struct context *c) {
  struct fake_profile *p = c->p;
  check_room(c, p->process_count, FAKE_PROCESSES, "process");
  struct fake_process process = {.device = device_of(c, 1)};
  process.mig = mig_of(c, process.device);
  (void)line_text(c->l, "pid", true);
  process.pid = (unsigned)line_number(c->l, "pid", 1, UINT32_MAX, 0);
  const char *used = line_text(c->l, "used", true);
  bool unknown = used != NULL && strcmp(used, "unknown") == 0;
  process.used = unknown ? FAKE_NO_BYTES : line_bytes(c->l, "used", UINT64_C(1) << 50, 0);
  check_used(c, process.device, process.used);
  process.at = line_seconds(c->l, "at", c->now);
  process.until = line_seconds(c->l, "until", FAKE_NEVER);
  if (process.until < process.at) line_fail(c->l, "until", "is before at");
  process.graphics = line_choice(c->l, "type", PROCESS_TYPES, 0) == 1;
  line_end(c->l, 2);
  if (!c->l->failed) p->processes[p->process_count++] = process;
}

static void add_event(struct context *c, struct fake_event event) {
  if (!c->control) (void)line_text(c->l, "at", true);
  event.at = line_seconds(c->l, "at", c->now);
  event.mig = mig_of(c, event.device);
  line_end(c->l, 2);
  if (!c->l->failed) c->p->events[c->p->event_count++] = event;
}

static void do_xid(struct context *c) {
  check_room(c, c->p->event_count, FAKE_EVENTS, "xid");
  (void)line_text(c->l, "code", true);
  uint64_t code = line_number(c->l, "code", 1, 999, 0);
  add_event(c, (struct fake_event){.device = device_of(c, 1), .type = nvmlEventTypeXidCriticalError, .data = code});
}

static void do_ecc(struct context *c) {
  check_room(c, c->p->event_count, FAKE_EVENTS, "ecc");
  (void)line_text(c->l, "type", true);
  bool twice = line_choice(c->l, "type", ECC_TYPES, 0) == 1;
  uint64_t type = twice ? nvmlEventTypeDoubleBitEccError : nvmlEventTypeSingleBitEccError;
  add_event(c, (struct fake_event){.device = device_of(c, 1), .type = type});
}

static void do_lost(struct context *c) {
  int device = device_of(c, 1);
  uint64_t at = line_seconds(c->l, "at", c->now);
  line_end(c->l, 2);
  if (!c->l->failed) c->p->devices[device].lost_at = at;
}

static void add_fault(struct context *c, struct fake_fault fault) {
  struct fake_profile *p = c->p;
  struct line *l = c->l;
  check_room(c, p->fault_count, FAKE_FAULTS, l->word[0]);
  if (l->words < 2) line_fail(l, "function", "missing");
  if (!l->failed) {
    fault.function = fake_function_number(l->word[1]);
    if (fault.function < 0) line_fail(l, "function", "\"%.60s\" is not in fake_nvml.def", l->word[1]);
  }
  fault.from = line_number(l, "from", 1, UINT32_MAX, 1);
  fault.count = line_number(l, "count", 1, UINT32_MAX, FAKE_NEVER);
  fault.device = (int)line_number(l, "device", 0, FAKE_DEVICES - 1, FAKE_DEVICES);
  if (fault.device == FAKE_DEVICES) {
    fault.device = FAKE_ALL_DEVICES;
  } else if (fault.device >= p->device_count) {
    line_fail(l, "device", "%d is not below %d", fault.device, p->device_count);
  }
  line_end(l, 2);
  if (!l->failed) p->faults[p->fault_count++] = fault;
}

static void do_fail(struct context *c) {
  const char *text = line_text(c->l, "code", true);
  nvmlReturn_t code = NVML_SUCCESS;
  if (text != NULL && !code_by_name(text, &code)) line_fail(c->l, "code", "\"%.60s\" is no return code of NVML", text);
  if (text != NULL && !c->l->failed && code == NVML_SUCCESS) line_fail(c->l, "code", "SUCCESS is no failure");
  add_fault(c, (struct fake_fault){.code = code});
}

static void do_hang(struct context *c) {
  (void)line_text(c->l, "ms", true);
  add_fault(c, (struct fake_fault){.hang_ms = line_number(c->l, "ms", 1, 3600000, 0), .code = NVML_SUCCESS});
}

/* Ends every failure, hang and loss; what has been counted stays counted. */
static void do_clear(struct context *c) {
  line_end(c->l, 1);
  if (c->l->failed) return;
  c->p->fault_count = 0;
  for (int d = 0; d < c->p->device_count; d++) c->p->devices[d].lost_at = FAKE_NEVER;
}

static const struct {
  const char *name;
  void (*run)(struct context *c);
  bool control; /* may come while the node runs */
} DIRECTIVES[] = {
    {"system", do_system, false},
    {"device", do_device, false},
    {"mig", do_mig, false},
    {"nvlink", do_nvlink, false},
    {"nvswitch", do_nvswitch, false},
    {"switch-links", do_switch_links, false},
    {"pcie", do_pcie, false},
    {"load", do_load, true},
    {"process", do_process, true},
    {"xid", do_xid, true},
    {"ecc", do_ecc, true},
    {"lost", do_lost, true},
    {"fail", do_fail, true},
    {"hang", do_hang, true},
    {"clear", do_clear, true},
};

bool fake_profile_line(struct fake_profile *p, const char *text, size_t length, uint64_t now, bool control, char *error) {
  struct line l;
  line_split(&l, text, length, error, FAKE_ERROR_BYTES);
  if (l.failed || l.words == 0) return l.failed;
  for (size_t i = 0; i < sizeof DIRECTIVES / sizeof DIRECTIVES[0]; i++) {
    if (strcmp(l.word[0], DIRECTIVES[i].name) != 0) continue;
    if (control && !DIRECTIVES[i].control) line_fail(&l, l.word[0], "cannot change while the node runs");
    if (!l.failed) DIRECTIVES[i].run(&(struct context){p, &l, now, control});
    return l.failed;
  }
  line_fail(&l, "line", "\"%.60s\" is no directive", l.word[0]);
  return true;
}

bool fake_profile_parse(struct fake_profile *p, const char *text, size_t length, char *error) {
  char why[FAKE_ERROR_BYTES] = "";
  unsigned long number = 0;
  fake_profile_init(p);
  for (size_t at = 0; at < length;) {
    const char *end = memchr(text + at, '\n', length - at);
    size_t n = end != NULL ? (size_t)(end - (text + at)) : length - at;
    number++;
    if (fake_profile_line(p, text + at, n, 0, false, why)) {
      (void)snprintf(error, FAKE_ERROR_BYTES, "%lu: %.480s", number, why);
      return true;
    }
    at += n + 1;
  }
  if (!p->has_system) {
    (void)snprintf(error, FAKE_ERROR_BYTES, "%lu: system: missing", number);
    return true;
  }
  return false;
}
