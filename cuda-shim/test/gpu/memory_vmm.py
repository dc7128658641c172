"""--memory 1024: physical memory by handle counts from its creation until handle and mapping are gone."""
from ctypes import byref, c_int, c_size_t, c_uint64, c_ulonglong
from common import MIB, check, figures, within
from driver import OUT_OF_MEMORY, AccessDescription, AllocationProperties, Card

PIECE = 64 * MIB
card = Card()
properties = AllocationProperties(type=1)
properties.location.type = 1
granularity = c_size_t()
card.call("cuMemGetAllocationGranularity", byref(granularity), byref(properties), c_int(0))
check(PIECE % granularity.value == 0, f"granularity {granularity.value}")


def create():
    handles = []
    while len(handles) < 64:
        handle = c_ulonglong()
        error = card.status("cuMemCreate", byref(handle), c_size_t(PIECE), byref(properties), c_ulonglong(0))
        if error != 0:
            return handles, error
        handles.append(handle)
    return handles, 0


handles, error = create()
check(error == OUT_OF_MEMORY, f"refused with {error} after {len(handles)} handles")
within(64 * len(handles), 64, 1024 - 64, "MiB given")
address = c_uint64()
card.call("cuMemAddressReserve", byref(address), c_size_t(PIECE), c_size_t(0), c_uint64(0), c_ulonglong(0))
card.call("cuMemMap", address, c_size_t(PIECE), c_size_t(0), handles[0], c_ulonglong(0))
access = AccessDescription(flags=3)
access.location.type = 1
card.call("cuMemSetAccess", address, c_size_t(PIECE), byref(access), c_size_t(1))
card.call("cuMemsetD8_v2", address, 7, c_size_t(PIECE))
card.call("cuCtxSynchronize")
for handle in handles:
    card.call("cuMemRelease", handle)
again, error = create()
check(len(again) == len(handles) - 1, f"while one is mapped {len(again)} more are given, not {len(handles) - 1}")
for handle in again:
    card.call("cuMemRelease", handle)
card.call("cuMemUnmap", address, c_size_t(PIECE))
card.call("cuMemAddressFree", address, c_size_t(PIECE))
again, error = create()
check(len(again) == len(handles), f"afterwards {len(again)} instead of {len(handles)}")
figures(given_mib=64 * len(handles), granularity_mib=granularity.value / MIB)
