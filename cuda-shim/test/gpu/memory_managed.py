"""--memory 1024: managed memory counts like any other, and works."""
import ctypes
from ctypes import c_size_t, c_uint
from common import MIB, check, figures, within
from driver import OUT_OF_MEMORY, Card

card = Card()
pieces, error = card.take("cuMemAllocManaged", after=(c_uint(1),))
check(error == OUT_OF_MEMORY, f"refused with {error} after {len(pieces)} pieces")
within(64 * len(pieces), 64, 1024 - 64, "MiB given")
ctypes.memset(pieces[0].value, 5, MIB)
back = (ctypes.c_ubyte * 16)()
card.call("cuMemcpyDtoH_v2", back, pieces[0], c_size_t(16))
check(bytes(back) == b"\5" * 16, "what the host wrote can be read")
for piece in pieces:
    card.call("cuMemFree_v2", piece)
again, error = card.take("cuMemAllocManaged", after=(c_uint(1),))
check(len(again) == len(pieces), f"the second time {len(again)} pieces instead of {len(pieces)}")
figures(given_mib=64 * len(pieces))
