#include "region_print.h"

static void print_header(struct emit *e, const char *file, const struct region *r) {
  emit_text(e, "file", file);
  emit_text(e, "region", region_name(r->kind));
  emit_hex(e, "magic", r->header.magic);
  emit_u64(e, "major", r->header.major);
  emit_u64(e, "minor", r->header.minor);
  emit_u64(e, "writer_epoch", r->header.writer_epoch);
  emit_u64(e, "boot_id_hash", r->header.boot_id_hash);
  emit_i64(e, "monotonic_offset_ns", r->header.monotonic_offset_ns);
  emit_u64(e, "device_count", r->header.device_count);
}

static void print_flags(struct emit *e, uint32_t flags) {
  static const char *const names[] = {"active",      "memory", "compute", "oversubscribe", "balance",
                                      "pinned-host", "strict", "mps",     "latency"};
  emit_open_list(e, "flags");
  for (unsigned bit = 0; bit < 32; bit++) {
    if ((flags >> bit & 1u) == 0) continue;
    if (bit < sizeof names / sizeof names[0]) {
      emit_text(e, NULL, names[bit]);
    } else {
      emit_hex(e, NULL, 1u << bit); /* of a newer minor version */
    }
  }
  emit_close(e);
}

static void print_limits(struct emit *e, const struct vgpu_limits *limits) {
  for (uint32_t i = 0; i < limits->header.device_count; i++) {
    const struct vgpu_limits_device *d = &limits->devices[i];
    emit_open_object(e, NULL);
    emit_u64(e, "index", i);
    emit_text(e, "uuid", d->uuid);
    emit_u64(e, "nvml_index", d->nvml_index);
    print_flags(e, d->flags);
    emit_u64(e, "mem_limit", d->mem_limit);
    emit_u64(e, "mem_physical", d->mem_physical);
    emit_u64(e, "core_hard_permille", d->core_hard_permille);
    emit_u64(e, "core_soft_permille", d->core_soft_permille);
    emit_u64(e, "sm_count", d->sm_count);
    emit_u64(e, "runahead_us", d->runahead_us);
    emit_u64(e, "burst_us", d->burst_us);
    emit_u64(e, "max_stall_ms", d->max_stall_ms);
    emit_u64(e, "context_mib", d->context_mib);
    emit_u64(e, "host_pinned_limit", d->host_pinned_limit);
    emit_u64(e, "seq", d->seq);
    emit_close(e);
  }
}

static void print_load(struct emit *e, const struct vgpu_load *load) {
  for (uint32_t i = 0; i < load->header.device_count; i++) {
    const struct vgpu_load_device *d = &load->devices[i];
    emit_open_object(e, NULL);
    emit_u64(e, "index", i);
    emit_u64(e, "device_util_permille", d->device_util_permille);
    emit_u64(e, "container_util_permille", d->container_util_permille);
    emit_u64(e, "others_active", d->others_active);
    emit_u64(e, "sample_ns", d->sample_ns);
    emit_u64(e, "container_nvml_bytes", d->container_nvml_bytes);
    emit_u64(e, "context_bytes", d->context_bytes);
    emit_u64(e, "context_sample", d->context_sample);
    emit_u64(e, "refund_ns", d->refund_ns);
    emit_u64(e, "turn_period_us", d->turn_period_us);
    emit_u64(e, "turn_offset_us", d->turn_offset_us);
    emit_u64(e, "turn_length_us", d->turn_length_us);
    emit_u64(e, "seq", d->seq);
    emit_close(e);
  }
}

static void print_usage_devices(struct emit *e, const struct vgpu_usage *usage) {
  for (uint32_t i = 0; i < usage->header.device_count; i++) {
    const struct vgpu_usage_device *d = &usage->devices[i];
    emit_open_object(e, NULL);
    emit_u64(e, "index", i);
    emit_i64(e, "peak", d->peak);
    emit_u64(e, "oom_count", d->oom_count);
    emit_u64(e, "oom_bytes", d->oom_bytes);
    emit_u64(e, "throttle_ns", d->throttle_ns);
    emit_u64(e, "launches", d->launches);
    emit_u64(e, "internal_errors", d->internal_errors);
    emit_i64(e, "bucket_ns", d->bucket_ns);
    emit_u64(e, "last_refill_ns", d->last_refill_ns);
    emit_u64(e, "raw_busy_ns", d->raw_busy_ns);
    emit_u64(e, "waiters", d->waiters);
    emit_u64(e, "active_processes", d->active_processes);
    emit_u64(e, "refund_taken_ns", d->refund_taken_ns);
    emit_i64(e, "refund_credit_ns", d->refund_credit_ns);
    emit_close(e);
  }
}

static void print_slot_devices(struct emit *e, const struct vgpu_usage_slot *s, uint32_t devices) {
  emit_open_list(e, "devices");
  for (uint32_t i = 0; i < devices; i++) {
    emit_open_object(e, NULL);
    emit_u64(e, "index", i);
    emit_i64(e, "bytes", s->bytes[i]);
    emit_u64(e, "overhead_pages", s->overhead_pages[i]);
    emit_u64(e, "managed_pages", s->managed_pages[i]);
    emit_u64(e, "inflight_us", s->inflight_us[i]);
    emit_close(e);
  }
  emit_close(e);
}

/* Free slots are left out. */
static void print_slots(struct emit *e, const struct vgpu_usage *usage) {
  static const char *const states[] = {"free", "claiming", "live", "reaping", "suspended"};
  for (uint32_t k = 0; k < usage->header.slot_high_water; k++) {
    const struct vgpu_usage_slot *s = &usage->slots[k];
    if (s->state == VGPU_SLOT_FREE) continue;
    emit_open_object(e, NULL);
    emit_u64(e, "slot", k);
    emit_text(e, "state", states[s->state]);
    emit_i64(e, "pid", s->pid);
    emit_u64(e, "start_time", s->start_time);
    emit_u64(e, "generation", s->generation);
    emit_u64(e, "open_since_ns", s->open_since_ns);
    emit_u64(e, "host_pinned_bytes", s->host_pinned_bytes);
    if (k < VGPU_RING_SLOTS) emit_u64(e, "slices", usage->rings[k].head);
    print_slot_devices(e, s, usage->header.device_count);
    emit_close(e);
  }
}

void region_print(FILE *out, bool json, const char *file, const struct region *r) {
  struct emit e;
  emit_begin(&e, out, json);
  print_header(&e, file, r);
  emit_open_list(&e, "devices");
  switch (r->kind) {
    case REGION_LIMITS: print_limits(&e, &r->u.limits); break;
    case REGION_USAGE: print_usage_devices(&e, &r->u.usage); break;
    case REGION_LOAD: print_load(&e, &r->u.load); break;
  }
  emit_close(&e);
  if (r->kind == REGION_USAGE) {
    emit_u64(&e, "slot_high_water", r->header.slot_high_water);
    emit_open_list(&e, "slots");
    print_slots(&e, &r->u.usage);
    emit_close(&e);
  }
  emit_end(&e);
}
