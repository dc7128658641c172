/* What a checked region holds, for people or as one JSON object on one line. */
#ifndef VGPU_REGION_PRINT_H
#define VGPU_REGION_PRINT_H

#include "emit.h"
#include "region.h"

void region_print(FILE *out, bool json, const char *file, const struct region *r);

#endif
