/*
 * When a card with two or more active processes should be looked at again. A refund is worth something once its container
 * could launch with it, so a look need be no sooner than that; turns are given and taken back by looks, and a ring must not
 * run over. Everything else can wait.
 */
#ifndef VGPU_NEXT_LOOK_H
#define VGPU_NEXT_LOOK_H

#include "refund.h"
#include "turns.h"

#define NEXT_LOOK_SOON_NS (5 * REFUND_MS)
#define NEXT_LOOK_CALM_NS (20 * REFUND_MS)

/* From the look just made, which both have seen, to the next: between the two bounds. */
int64_t next_look_ns(const struct refund_card *card, const struct turn_card *turns);

#endif
