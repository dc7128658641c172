/* A container's directory, made and changed as the agent would, and programs that run under its limits on the fake card. */
#ifndef VGPU_TEST_CONTAINER_H
#define VGPU_TEST_CONTAINER_H

#include <stdbool.h>
#include <sys/types.h>

#include "vgpu/abi.h"

struct container {
  char directory[256];
  struct vgpu_limits *limits;
  struct vgpu_usage *usage;
  struct vgpu_load *load;
  const char *visible; /* cards of on_cards.sh */
};

/* With one device entry, of card 0 of on_cards.sh. */
bool container_make(struct container *c, const char *name, uint32_t flags, uint32_t permille, uint32_t soft_permille);

/* A second entry, of card 1; before anybody runs in it. */
void container_second_card(struct container *c, uint32_t flags, uint32_t permille);

/* In place, by the seqlock, as the agent does it. */
void container_limit(struct container *c, uint32_t flags, uint32_t permille, uint32_t soft_permille);
void container_neighbours(struct container *c, uint32_t others_active);

/* test/pace/tenant.c in it, with the library preloaded. */
pid_t container_run(const struct container *c, const char *library, const char *tenant, long kernel_ns, int batch, int sync);
void container_kill(pid_t pid);

#endif
