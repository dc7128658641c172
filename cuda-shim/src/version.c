/*
 * The library as it stands: it limits nothing yet and touches nothing. Loaded into every process of a container, it has
 * no constructor, needs no other library and no symbol of any, and offers only its version.
 */
#include "vgpu/abi.h"

#define TEXT_OF(x) #x
#define VERSION_OF(major, minor) TEXT_OF(major) "." TEXT_OF(minor)

/* "VERSION abi MAJOR.MINOR", to be read by tools; nothing in the library uses it. */
extern const char vgpu_control_version[];
const char vgpu_control_version[] = VGPU_VERSION " abi " VERSION_OF(VGPU_ABI_MAJOR, VGPU_ABI_MINOR);
