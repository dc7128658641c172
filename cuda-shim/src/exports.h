/*
 * What processes of this container have exported: an importer in the same container shares memory that is charged already,
 * one from elsewhere gets memory that nobody here pays for.
 */
#ifndef VGPU_EXPORTS_H
#define VGPU_EXPORTS_H

#include "shared.h"

uint64_t vgpu_hash(const void *bytes, size_t length, uint64_t seed);
void vgpu_export_note(const struct vgpu_shared *shared, uint64_t hash);
bool vgpu_export_known(const struct vgpu_shared *shared, uint64_t hash);

#endif
