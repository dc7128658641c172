/* Sixty-four small hash tables, so that threads that allocate at once do not meet. */
#include "table.h"

#include "lock.h"

enum { SHARDS = 64, FIRST_CAPACITY = 64 };

struct shard {
  vgpu_lock lock;
  uint32_t used, capacity; /* a power of two, kept at most half full */
  struct vgpu_item *items;
  char apart[40]; /* a cache line each */
};
static struct shard shards[SHARDS];

static uint64_t hash_of(enum vgpu_what what, uint64_t key) {
  uint64_t h = (key >> 4 ^ key << 40 ^ (uint64_t)what << 57) * 0x9E3779B97F4A7C15u;
  return h ^ h >> 29;
}

/* The place of the item, or the empty one where it would go. The table is never full. */
static uint32_t place_of(const struct shard *s, enum vgpu_what what, uint64_t key) {
  uint32_t mask = s->capacity - 1, i = (uint32_t)(hash_of(what, key) >> 6) & mask;
  while (s->items[i].key != 0 && (s->items[i].key != key || s->items[i].what != what)) i = (i + 1) & mask;
  return i;
}

static bool grow(struct shard *s) {
  uint32_t capacity = s->capacity == 0 ? FIRST_CAPACITY : s->capacity * 2;
  struct vgpu_item *items = sys_pages(capacity * sizeof *items);
  if (items == NULL) return false;
  struct shard bigger = {.capacity = capacity, .items = items};
  for (uint32_t i = 0; i < s->capacity; i++) {
    const struct vgpu_item *item = &s->items[i];
    if (item->key != 0) items[place_of(&bigger, item->what, item->key)] = *item;
  }
  if (s->items != NULL) (void)sys_munmap(s->items, s->capacity * sizeof *items);
  s->items = items;
  s->capacity = capacity;
  return true;
}

/* Moves what follows back over the gap, so that no search stops too early. */
static void erase(struct shard *s, uint32_t gap) {
  uint32_t mask = s->capacity - 1, i = gap;
  s->used--;
  for (;;) {
    s->items[gap].key = 0;
    for (;;) {
      i = (i + 1) & mask;
      if (s->items[i].key == 0) return;
      uint32_t home = (uint32_t)(hash_of(s->items[i].what, s->items[i].key) >> 6) & mask;
      if (((i - home) & mask) >= ((i - gap) & mask)) break;
    }
    s->items[gap] = s->items[i];
    gap = i;
  }
}

/* With its lock held; null: the lock does not come free. */
static struct shard *open_shard(enum vgpu_what what, uint64_t key) {
  struct shard *s = &shards[hash_of(what, key) % SHARDS];
  return lock_take(&s->lock) ? s : NULL;
}

static struct vgpu_item *find(struct shard *s, enum vgpu_what what, uint64_t key) {
  if (s->capacity == 0 || key == 0) return NULL;
  struct vgpu_item *item = &s->items[place_of(s, what, key)];
  return item->key != 0 ? item : NULL;
}

bool vgpu_table_put(const struct vgpu_item *item) {
  struct shard *s = item->key == 0 ? NULL : open_shard(item->what, item->key);
  if (s == NULL) return false;
  bool room = s->used * 2 < s->capacity || grow(s);
  if (room) {
    struct vgpu_item *at = &s->items[place_of(s, item->what, item->key)];
    if (at->key == 0) s->used++;
    *at = *item;
  }
  lock_give(&s->lock);
  return room;
}

bool vgpu_table_get(enum vgpu_what what, uint64_t key, struct vgpu_item *out) {
  struct shard *s = open_shard(what, key);
  if (s == NULL) return false;
  const struct vgpu_item *item = find(s, what, key);
  if (item != NULL) *out = *item;
  lock_give(&s->lock);
  return item != NULL;
}

bool vgpu_table_take(enum vgpu_what what, uint64_t key, struct vgpu_item *out) {
  struct shard *s = open_shard(what, key);
  if (s == NULL) return false;
  struct vgpu_item *item = find(s, what, key);
  if (item != NULL) {
    *out = *item;
    erase(s, (uint32_t)(item - s->items));
  }
  lock_give(&s->lock);
  return item != NULL;
}

bool vgpu_table_count(enum vgpu_what what, uint64_t key, int delta, struct vgpu_item *out) {
  struct shard *s = open_shard(what, key);
  if (s == NULL) return false;
  struct vgpu_item *item = find(s, what, key);
  if (item != NULL) {
    item->count += (uint32_t)delta;
    *out = *item;
    if (item->count == 0) erase(s, (uint32_t)(item - s->items));
  }
  lock_give(&s->lock);
  return item != NULL;
}

bool vgpu_table_take_owned(uint64_t owner, struct vgpu_item *out) {
  for (int k = 0; k < SHARDS; k++) {
    struct shard *s = &shards[k];
    if (!lock_take(&s->lock)) continue;
    for (uint32_t i = 0; i < s->capacity; i++) {
      const struct vgpu_item *item = &s->items[i];
      bool by_context =
          item->what == VGPU_POINTER || item->what == VGPU_ARRAY || item->what == VGPU_MIPMAP || item->what == VGPU_IPC;
      if (item->key == 0 || item->owner != owner || !by_context) continue;
      *out = *item;
      erase(s, i);
      lock_give(&s->lock);
      return true;
    }
    lock_give(&s->lock);
  }
  return false;
}

bool vgpu_table_covering(enum vgpu_what what, uint64_t address, struct vgpu_item *out) {
  for (int k = 0; k < SHARDS; k++) {
    struct shard *s = &shards[k];
    if (!lock_take(&s->lock)) continue;
    for (uint32_t i = 0; i < s->capacity; i++) {
      const struct vgpu_item *item = &s->items[i];
      if (item->what != what || item->key == 0 || item->key > address || address - item->key >= item->size) continue;
      *out = *item;
      lock_give(&s->lock);
      return true;
    }
    lock_give(&s->lock);
  }
  return false;
}
