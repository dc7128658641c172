"""--memory 1024: what pools reserve counts; refused as out of memory; given back when trimmed."""
import ctypes
from common import MIB, check, figures, within
from driver import OUT_OF_MEMORY, Card

card = Card()
before = card.memory_info()[0]
pieces, error = card.take("cuMemAllocAsync", after=(card.stream,))
check(error == OUT_OF_MEMORY, f"refused with {error} after {len(pieces)} pieces")
within(64 * len(pieces), 64, 1024 - 64, "MiB given")
linear, error = card.take("cuMemAlloc_v2")
check(error == OUT_OF_MEMORY and len(linear) <= 1, f"beside the pool {len(linear)} pieces of linear memory were given")
for piece in linear:
    card.call("cuMemFree_v2", piece)
for piece in pieces:
    card.call("cuMemFreeAsync", piece, card.stream)
card.synchronize()
pool = ctypes.c_void_p()
card.call("cuDeviceGetDefaultMemPool", ctypes.byref(pool), card.device)
card.call("cuMemPoolTrimTo", pool, ctypes.c_size_t(0))
after = card.memory_info()[0]
within(after / MIB, before / MIB - 64, before / MIB + 1, "MiB free after the trim")
figures(given_mib=64 * len(pieces), free_before_mib=before // MIB, free_after_mib=after // MIB)
