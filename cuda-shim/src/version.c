/* What this library is, to be read by tools from the file or by dlsym. */
#include "vgpu/abi.h"

#define TEXT_OF(x) #x
#define VERSION_OF(major, minor) TEXT_OF(major) "." TEXT_OF(minor)

/* "VERSION abi MAJOR.MINOR", to be read by tools; nothing in the library uses it. */
extern const char vgpu_control_version[] __attribute__((visibility("default")));
__attribute__((used)) const char vgpu_control_version[] = VGPU_VERSION " abi " VERSION_OF(VGPU_ABI_MAJOR, VGPU_ABI_MINOR);
