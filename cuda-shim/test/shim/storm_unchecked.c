/* The storm with the comparison taken out: it must be seen to fail, or the storm could not see anything. */
#include "ledger.h"

bool __wrap_vgpu_charge(const struct vgpu_place *place, enum vgpu_charge kind, uint64_t bytes);
bool __wrap_vgpu_charge(const struct vgpu_place *place, enum vgpu_charge kind, uint64_t bytes) {
  vgpu_charge_anyway(place, kind, bytes);
  return true;
}
