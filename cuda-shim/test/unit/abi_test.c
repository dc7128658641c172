/* The layout by the numbers of its specification, written out here a second time and on their own. */
#include "vgpu/abi.h"
#include "check.h"

static struct vgpu_usage usage;
static struct vgpu_limits limits;
static struct vgpu_load load;

static void slots_and_rings_lie_where_the_arithmetic_says(void) {
  const char *base = (const char *)&usage;
  for (int k = 0; k < 1024; k++) {
    CHECK_EQ((const char *)&usage.slots[k] - base, 4096 + 384 * k, "slot");
    CHECK_EQ((const char *)&usage.slots[k].bytes[15] - base, 4096 + 384 * k + 32 + 120, "bytes[15]");
  }
  for (int k = 0; k < 64; k++) {
    CHECK_EQ((const char *)&usage.rings[k].head - base, 397312 + 1984 * k, "ring");
    CHECK_EQ((const char *)&usage.rings[k].entries[122] - base, 397312 + 1984 * k + 16 + 16 * 122, "last entry");
  }
  CHECK_EQ((const char *)(&usage.rings[63] + 1) - base, 512 * 1024, "end of the last ring is the end of the file");
}

static void device_entries_lie_one_stride_apart(void) {
  for (int i = 0; i < 16; i++) {
    CHECK_EQ((const char *)&limits.devices[i] - (const char *)&limits, 128 + 128 * i, "limits device");
    CHECK_EQ((const char *)&usage.devices[i] - (const char *)&usage, 128 + 128 * i, "usage device");
    CHECK_EQ((const char *)&load.devices[i] - (const char *)&load, 128 + 64 * i, "load device");
  }
}

static void magics_spell_their_names_and_are_no_other_projects(void) {
  static const struct {
    uint32_t magic;
    const char *name;
  } rows[] = {
      {VGPU_LIMITS_MAGIC, "VLIM"}, {VGPU_USAGE_MAGIC, "VUSG"}, {VGPU_LOAD_MAGIC, "VLOD"}, {VGPU_REGISTER_MAGIC, "VREG"}};
  static const uint32_t foreign[] = {0x56474346u, 0x564D4E44u, 0x534D4E44u, 19920718u};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    CHECK(memcmp(&rows[i].magic, rows[i].name, 4) == 0, "%s", rows[i].name);
    for (size_t f = 0; f < sizeof foreign / sizeof foreign[0]; f++) CHECK(rows[i].magic != foreign[f], "%s", rows[i].name);
  }
}

static void a_hot_word_does_not_share_a_cache_line_with_the_cold_half(void) {
  CHECK_EQ(offsetof(struct vgpu_usage_device, bucket_ns) % 64, 0, "bucket_ns");
  CHECK_EQ(offsetof(struct vgpu_load_device, seq) % 64, 0, "futex word");
}

int main(void) {
  slots_and_rings_lie_where_the_arithmetic_says();
  device_entries_lie_one_stride_apart();
  magics_spell_their_names_and_are_no_other_projects();
  a_hot_word_does_not_share_a_cache_line_with_the_cold_half();
  return check_result();
}
