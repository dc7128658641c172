// The header is meant for C++ too: it compiles, and the sizes are the same.
#include "vgpu/abi.h"

static_assert(sizeof(vgpu_usage) == 524288, "usage");
static_assert(alignof(vgpu_limits_device) == 8, "natural alignment");

int main() { return 0; }
