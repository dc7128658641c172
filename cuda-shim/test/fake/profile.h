/*
 * What a fake node is: devices, links, and what happens to them over time. Read from a text file whose format README.md
 * describes. Plain data, no clock: times are nanoseconds since the node's start.
 */
#ifndef VGPU_FAKE_PROFILE_H
#define VGPU_FAKE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nvml_types.h"

enum {
  FAKE_DEVICES = 32,
  FAKE_MIGS = 7,
  FAKE_SWITCHES = 16,
  FAKE_LOADS = 1024,
  FAKE_PROCESSES = 1024,
  FAKE_EVENTS = 1024,
  FAKE_FAULTS = 256,
  FAKE_LINE_BYTES = 1024,
  FAKE_FILE_BYTES = 1 << 20,
  FAKE_ERROR_BYTES = 512
};
#define FAKE_NEVER UINT64_MAX
#define FAKE_NO_BYTES UINT64_MAX /* a process whose memory NVML does not know; a load that leaves memory to processes */
#define FAKE_ALL_DEVICES (-1)

struct fake_pci {
  unsigned domain, bus, device;
};

struct fake_mig {
  bool present;
  char uuid[80];
  char profile[32];
  unsigned gi, ci;
  nvmlDeviceAttributes_t attributes;
};

enum fake_mig_mode { FAKE_MIG_UNSUPPORTED, FAKE_MIG_DISABLED, FAKE_MIG_ENABLED };

struct fake_device {
  char name[64];
  char uuid[80];
  unsigned minor;
  struct fake_pci pci;
  unsigned pci_id;
  uint64_t memory, reserved; /* bytes */
  int cc_major, cc_minor;
  unsigned cores;
  int numa;        /* node of its slot, -1 unknown */
  int memory_numa; /* node that it is itself, -1 none */
  enum fake_mig_mode mig_mode;
  struct fake_mig migs[FAKE_MIGS];
  uint64_t event_types;
  unsigned switch_links;
  uint64_t lost_at;
};

struct fake_load {
  int device;
  uint64_t at;
  unsigned util, mem_util;
  uint64_t used; /* or FAKE_NO_BYTES */
};

struct fake_process {
  int device;
  int mig; /* -1: the whole card */
  unsigned pid;
  uint64_t used;
  uint64_t at, until;
  bool graphics;
};

struct fake_event {
  int device;
  int mig;
  uint64_t at;
  uint64_t type, data;
};

/* Calls `from` to `from + count - 1` of a function, on one device or on any, answer `code` or first sleep. */
struct fake_fault {
  int function;
  int device;
  uint64_t from, count;
  uint64_t hang_ms;
  nvmlReturn_t code; /* NVML_SUCCESS: only hang */
};

struct fake_profile {
  bool has_system;
  char driver[80], nvml[80];
  int cuda;
  int device_count;
  struct fake_device devices[FAKE_DEVICES];
  int switch_count;
  struct fake_pci switches[FAKE_SWITCHES];
  uint8_t nvlinks[FAKE_DEVICES][FAKE_DEVICES];
  uint8_t pcie_level[FAKE_DEVICES][FAKE_DEVICES]; /* nvmlGpuTopologyLevel_t; 0xFF: by numa */
  int load_count;
  struct fake_load loads[FAKE_LOADS];
  int process_count;
  struct fake_process processes[FAKE_PROCESSES];
  int event_count;
  struct fake_event events[FAKE_EVENTS];
  int fault_count;
  struct fake_fault faults[FAKE_FAULTS];
};

/* An empty node. */
void fake_profile_init(struct fake_profile *p);

/*
 * Takes one line. `now` is the time that a missing `at` means; `control` allows only what may change while a node runs.
 * True on error, with `error` = "FIELD: what is wrong" (FAKE_ERROR_BYTES); the profile is then unchanged or half changed
 * and, unless it is a control line, of no use.
 */
bool fake_profile_line(struct fake_profile *p, const char *text, size_t length, uint64_t now, bool control, char *error);

/* Takes a whole text. True on error, with `error` = "LINE: FIELD: what is wrong". */
bool fake_profile_parse(struct fake_profile *p, const char *text, size_t length, char *error);

/* Number of a row of nvml.def by its name, -1 if there is none. */
int fake_function_number(const char *name);

#endif
