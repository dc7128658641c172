/*
 * Event sets. An event reaches a set if the set registered its device and type before the event's time. Waiting releases
 * the lock and looks again every few milliseconds: for what has become due and for new lines in the control file.
 */
#include <string.h>
#include <time.h>

#include "fake.h"

static const uint64_t POLL_NS = 5000000;

static bool valid(nvmlEventSet_t set) {
  uintptr_t base = (uintptr_t)fake.sets, at = (uintptr_t)set;
  if (at < base || at >= base + sizeof fake.sets || (at - base) % sizeof fake.sets[0] != 0) return false;
  return set->used;
}

nvmlReturn_t fake_nvmlEventSetCreate(nvmlEventSet_t *set) {
  if (set == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  for (int i = 0; i < FAKE_SETS; i++) {
    struct nvmlEventSet_st *s = &fake.sets[i];
    if (s->used) continue;
    *s = (struct nvmlEventSet_st){.used = true, .generation = s->generation};
    *set = s;
    return NVML_SUCCESS;
  }
  return NVML_ERROR_INSUFFICIENT_RESOURCES;
}

nvmlReturn_t fake_nvmlEventSetFree(nvmlEventSet_t set) {
  if (!valid(set)) return NVML_ERROR_INVALID_ARGUMENT;
  set->used = false;
  set->generation++;
  return NVML_SUCCESS;
}

nvmlReturn_t fake_nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device, unsigned long long *types) {
  struct fake_device *card = NULL;
  if (types == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  nvmlReturn_t result = fake_card(device, &card, NULL);
  if (result == NVML_SUCCESS) *types = card->event_types;
  return result;
}

nvmlReturn_t fake_nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long types, nvmlEventSet_t set) {
  struct fake_device *card = NULL;
  int index = 0;
  if (!valid(set)) return NVML_ERROR_INVALID_ARGUMENT;
  nvmlReturn_t result = fake_card(device, &card, &index);
  if (result != NVML_SUCCESS) return result;
  if ((types & ~(unsigned long long)card->event_types) != 0) return NVML_ERROR_NOT_SUPPORTED;
  if (set->types[index] == 0) set->since[index] = fake_now();
  set->types[index] |= types;
  return NVML_SUCCESS;
}

/* The oldest event that is due for the set; -1 for none. */
static int due(const struct nvmlEventSet_st *set, uint64_t now) {
  int best = -1;
  for (int i = 0; i < fake.profile.event_count; i++) {
    const struct fake_event *e = &fake.profile.events[i];
    if (set->delivered[i] || e->at > now || (set->types[e->device] & e->type) == 0 || e->at < set->since[e->device]) continue;
    if (best < 0 || e->at < fake.profile.events[best].at) best = i;
  }
  return best;
}

static bool watches_lost_device(const struct nvmlEventSet_st *set) {
  for (int d = 0; d < fake.profile.device_count; d++) {
    if (set->types[d] != 0 && fake_lost(d)) return true;
  }
  return false;
}

static void deliver(struct nvmlEventSet_st *set, int event, nvmlEventData_t *data) {
  const struct fake_event *e = &fake.profile.events[event];
  const struct fake_mig *mig = e->mig < 0 ? NULL : &fake.profile.devices[e->device].migs[e->mig];
  set->delivered[event] = true;
  *data = (nvmlEventData_t){.device = fake_handle(e->device, -1),
                            .eventType = e->type,
                            .eventData = e->data,
                            .gpuInstanceId = mig == NULL ? NVML_NO_INSTANCE : mig->gi,
                            .computeInstanceId = mig == NULL ? NVML_NO_INSTANCE : mig->ci};
}

static void pause_unlocked(uint64_t ns) {
  struct timespec t = {.tv_nsec = (long)ns};
  (void)pthread_mutex_unlock(&fake.lock);
  (void)nanosleep(&t, NULL);
  (void)pthread_mutex_lock(&fake.lock);
}

nvmlReturn_t fake_nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data, unsigned int timeout_ms) {
  if (data == NULL || !valid(set)) return NVML_ERROR_INVALID_ARGUMENT;
  uint64_t generation = set->generation, deadline = fake_now() + (uint64_t)timeout_ms * 1000000u;
  for (;;) {
    control_poll();
    uint64_t now = fake_now();
    int event = due(set, now);
    if (event >= 0) {
      deliver(set, event, data);
      return NVML_SUCCESS;
    }
    if (watches_lost_device(set)) return NVML_ERROR_GPU_IS_LOST;
    if (now >= deadline) return NVML_ERROR_TIMEOUT;
    pause_unlocked(deadline - now < POLL_NS ? deadline - now : POLL_NS);
    if (fake.inits == 0) return NVML_ERROR_UNINITIALIZED;
    if (set->generation != generation) return NVML_ERROR_INVALID_ARGUMENT;
  }
}
