/*
 * vgpu-run: a command under the limits of a container, on a machine without Kubernetes. The launcher makes the regions that
 * an agent would make, in a directory of the user's own, starts the command with the library preloaded, and stays beside it.
 * Of all launchers of a card one is the leader: it refunds all of them, as an agent would.
 */
#ifndef VGPU_RUN_H
#define VGPU_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vgpu/abi.h"

enum { RUN_FAILED = 125, RUN_NOT_EXECUTABLE = 126, RUN_NOT_FOUND = 127 };
enum { RUN_CARDS = 32, RUN_TENANTS = 32, RUN_PATH = 160 /* the library reads no longer ones */, RUN_TEXT = 256 };

/* Says it on stderr behind the program's name, and ends with RUN_FAILED. */
__attribute__((noreturn, format(printf, 1, 2))) void run_fail(const char *format, ...);
/* Likewise, goes on. */
__attribute__((format(printf, 1, 2))) void run_say(const char *format, ...);

/* ---- arguments */

enum run_policy { RUN_FIXED, RUN_BALANCE, RUN_NONE };

struct run_arguments {
  bool list, help, mps, latency;
  uint64_t memory_mib; /* 0: no limit */
  uint32_t cores;      /* percent; 0: no limit */
  const char *gpu;     /* index or UUID */
  enum run_policy policy;
  const char *library; /* null: the one beside us */
  char **command;      /* null-terminated */
};

/* Ends the program where something is wrong. */
void run_parse(int argc, char **argv, struct run_arguments *out);
void run_print_help(void);
const char *run_policy_name(enum run_policy policy);

/* ---- cards, by NVML */

struct run_card {
  unsigned index;
  char uuid[VGPU_UUID_BYTES];
  char name[96];
  uint64_t total_bytes;
  uint32_t multiprocessors; /* 0: unknown */
};

/* Ends the program where there is no driver. */
unsigned run_cards(struct run_card cards[RUN_CARDS]);
/* Ends the program where there is no such card. */
const struct run_card *run_card_named(const struct run_card *cards, unsigned count, const char *gpu);

/* ---- the registry: <base>/<card>/<tenant>/{limits,load,usage,usage.lock,alive,about} */

struct run_place {
  char card[RUN_PATH];   /* the card's directory */
  char tenant[RUN_PATH]; /* ours */
  int alive;             /* locked, and inherited by the command: while anything of it lives, so does the directory */
};

/* The card's directory in the user's own. Made if need be and `make`; else false where there is none. */
bool run_card_directory(const char *uuid, bool make, char out[RUN_PATH]);
/* Makes our directory; what dead launchers have left goes. */
void run_enter(const struct run_card *card, const struct run_arguments *arguments, struct run_place *out);
/* Removes it, unless a part of the command still lives. */
void run_leave(struct run_place *place);

/* Living tenants by directory name; what the dead left is removed. */
unsigned run_tenants(const char *card_directory, char names[RUN_TENANTS][32]);
/* One line about a tenant, as its launcher wrote it; false if there is none. */
bool run_about(const char *card_directory, const char *tenant, char out[RUN_TEXT]);

/* ---- the refund loop */

struct run_loop;

/* Null without memory. `card_name` is NVML's. */
struct run_loop *run_loop_begin(const char *card_directory, const char *card_name);
/* Leads if nobody else does; returns after how many ms to call again. */
int run_loop_step(struct run_loop *loop);
/* Leaves the lead to another one, for a while. */
void run_loop_yield(struct run_loop *loop);
void run_loop_end(struct run_loop *loop);

#endif
