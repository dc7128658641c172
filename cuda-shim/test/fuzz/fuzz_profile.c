/* Broken profiles and control lines end in an error that names a line, never in anything worse. */
#include "fuzz.h"
#include "profile.h"

static const char SEED[] =
    "system driver=550.163.01 nvml=12.550.163.01 cuda=12040 # version\n"
    "device 0 name=\"NVIDIA A100\" uuid=GPU-12345678-1234-1234-1234-123456780000 minor=0 pci=00000000:07:00.0 memory=40960MiB "
    "reserved=583MiB cc=8.0 cores=6912 numa=0 mig=enabled\n"
    "device 1 name=X uuid=GPU-12345678-1234-1234-1234-123456780001 pci=00000000:0F:00.0 memory=1GiB cc=12.1 cores=0x1B00\n"
    "mig 0 1 uuid=MIG-12345678-1234-1234-1234-123456780001 profile=1g.5gb gi=7 ci=0 sms=14 memory=4864MiB slices=1\n"
    "nvswitch 00000000:01:00.0\nswitch-links all count=6\nnvlink 0 1 count=2\npcie 0 1 level=multiple\n"
    "load all at=1.5 util=80 mem-util=20 used=512MiB\nprocess 0 pid=12 used=unknown at=1 until=9 type=graphics mig=1\n"
    "xid 0 code=79 at=3 mig=1\necc 1 type=double at=4\nlost 1 at=5\nfail nvmlDeviceGetName code=GPU_IS_LOST from=2 count=3 device=1\n"
    "hang nvmlInit_v2 ms=5\nclear\n";

static struct fake_profile profile;

/* Whatever was accepted stays within the tables. */
static void check_bounds(const struct fake_profile *p) {
  if (p->device_count < 0 || p->device_count > FAKE_DEVICES || p->switch_count > FAKE_SWITCHES || p->fault_count > FAKE_FAULTS)
    abort();
  for (int d = 0; d < p->device_count; d++) {
    unsigned links = p->devices[d].switch_links;
    for (int o = 0; o < p->device_count; o++) links += p->nvlinks[d][o];
    if (links > NVML_NVLINK_MAX_LINKS || p->devices[d].reserved > p->devices[d].memory) abort();
    if (p->devices[d].switch_links > 0 && p->switch_count == 0) abort();
  }
  for (int i = 0; i < p->event_count; i++) {
    const struct fake_event *e = &p->events[i];
    if (e->device < 0 || e->device >= p->device_count || (e->mig >= 0 && !p->devices[e->device].migs[e->mig].present)) abort();
  }
  for (int i = 0; i < p->process_count; i++) {
    if (p->processes[i].device < 0 || p->processes[i].device >= p->device_count) abort();
  }
}

/* A line number, then a field, then what is wrong. */
static void check_error(const char *error) {
  size_t digits = strspn(error, "0123456789");
  if (digits == 0 || error[digits] != ':' || strchr(error + digits + 1, ':') == NULL) abort();
}

static uint64_t accepted;

static uint64_t block(struct fuzz *f) {
  char error[FAKE_ERROR_BYTES];
  size_t length = fuzz_below(f, 8) == 0 ? fuzz_below(f, sizeof SEED) : sizeof SEED - 1;
  unsigned char *text = malloc(length + 1); /* of its exact size, so that one byte too far is noticed */
  if (text == NULL) exit(2);
  memcpy(text, SEED, length);
  if (fuzz_below(f, 64) != 0) fuzz_mutate(f, text, length);
  if (fake_profile_parse(&profile, (const char *)text, length, error)) {
    check_error(error);
  } else {
    accepted++;
    check_bounds(&profile);
    (void)fake_profile_line(&profile, (const char *)text, length < 100 ? length : 100, 7, true, error);
    check_bounds(&profile);
  }
  free(text);
  return 1;
}

static const char *wrong(uint64_t rounds) { return accepted > 0 && accepted < rounds ? NULL : "all accepted, or none"; }

int main(int argc, char **argv) {
  return fuzz_main(argc, argv, &(struct fuzz_target){.rounds = 60000, .block = block, .wrong = wrong});
}
