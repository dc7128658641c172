/* The table of what a process holds, against a plain array that does the same, and from many threads. */
#include <pthread.h>
#include <stdlib.h>

#include "../unit/check.h"
#include "../unit/draws.h"
#include "table.h"

enum { KEYS = 3000, ROUNDS = 300000, THREADS = 8 };

static void it_holds_what_was_put_and_not_taken(void) {
  static struct vgpu_item plain[KEYS];
  uint64_t state = 1;
  for (uint64_t i = 0; i < ROUNDS; i++) {
    uint64_t k = draws_below(&state, KEYS), key = (k + 1) << 12;
    struct vgpu_item item = {.key = key, .size = draws_next(&state), .count = 1, .what = VGPU_POINTER}, found;
    switch (draws_below(&state, 4)) {
      case 0:
        CHECK(vgpu_table_put(&item), "put");
        plain[k] = item;
        break;
      case 1:
        CHECK_EQ(vgpu_table_take(VGPU_POINTER, key, &found), plain[k].key != 0, "take");
        plain[k].key = 0;
        break;
      case 2:
        CHECK_EQ(vgpu_table_count(VGPU_POINTER, key, -1, &found), plain[k].key != 0, "count");
        plain[k].key = 0;
        break;
      default:
        CHECK_EQ(vgpu_table_get(VGPU_POINTER, key, &found), plain[k].key != 0, "get");
        if (plain[k].key != 0) CHECK_EQ(found.size, plain[k].size, "what it holds");
        break;
    }
    CHECK(!vgpu_table_get(VGPU_ARRAY, key, &found), "another kind of thing under the same number");
  }
  for (uint64_t k = 0; k < KEYS; k++) {
    struct vgpu_item found;
    CHECK_EQ(vgpu_table_take(VGPU_POINTER, (k + 1) << 12, &found), plain[k].key != 0, "at the end");
  }
}

static void a_context_takes_its_own_and_no_others(void) {
  struct vgpu_item found;
  for (uint64_t i = 1; i <= 300; i++) {
    struct vgpu_item item = {.key = i << 12, .owner = i % 3 + 1, .what = i % 2 ? VGPU_POINTER : VGPU_ARRAY};
    CHECK(vgpu_table_put(&item), "put");
  }
  int taken = 0;
  while (vgpu_table_take_owned(2, &found)) {
    CHECK_EQ(found.owner, 2, "owner");
    taken++;
  }
  CHECK_EQ(taken, 100, "a third");
  while (vgpu_table_take_owned(1, &found) || vgpu_table_take_owned(3, &found)) taken++;
  CHECK_EQ(taken, 300, "all");
}

static void an_address_inside_finds_what_covers_it(void) {
  struct vgpu_item item = {.key = 0x100000, .size = 0x1000, .what = VGPU_MAPPING}, found;
  CHECK(vgpu_table_put(&item), "put");
  CHECK(vgpu_table_covering(VGPU_MAPPING, 0x100FFF, &found), "last byte");
  CHECK(!vgpu_table_covering(VGPU_MAPPING, 0x101000, &found), "behind it");
  CHECK(!vgpu_table_covering(VGPU_MAPPING, 0x0FFFFF, &found), "before it");
  CHECK(vgpu_table_take(VGPU_MAPPING, 0x100000, &found), "take");
}

static void *hammer(void *argument) {
  uint64_t base = (uint64_t)(uintptr_t)argument << 32;
  struct vgpu_item found;
  for (uint64_t round = 0; round < 200; round++) {
    for (uint64_t i = 1; i <= 100; i++) {
      struct vgpu_item item = {.key = base + (i << 12), .size = i, .what = VGPU_POINTER};
      CHECK(vgpu_table_put(&item), "put");
    }
    for (uint64_t i = 1; i <= 100; i++) {
      CHECK(vgpu_table_take(VGPU_POINTER, base + (i << 12), &found) && found.size == i, "one's own, unchanged");
    }
  }
  return NULL;
}

static void threads_do_not_lose_each_others_entries(void) {
  pthread_t threads[THREADS];
  for (uintptr_t i = 0; i < THREADS; i++) {
    if (pthread_create(&threads[i], NULL, hammer, (void *)(i + 1)) != 0) abort();
  }
  for (int i = 0; i < THREADS; i++) (void)pthread_join(threads[i], NULL);
}

int main(void) {
  it_holds_what_was_put_and_not_taken();
  a_context_takes_its_own_and_no_others();
  an_address_inside_finds_what_covers_it();
  threads_do_not_lose_each_others_entries();
  return check_result();
}
