/* Where a fake library finds its profile, and the reading of it. */
#ifndef VGPU_FAKE_PROFILE_FILE_H
#define VGPU_FAKE_PROFILE_FILE_H

#include "profile.h"

/* FAKE_GPUS, else fake.gpus beside the library that `symbol` lies in: a copy of a library is then a node of its own. */
bool fake_profile_path(const void *symbol, char *out, size_t bytes);

/* True on error, which is then on stderr. */
bool fake_profile_load(struct fake_profile *p, const char *path);

#endif
