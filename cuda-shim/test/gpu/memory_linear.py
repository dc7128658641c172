"""--memory 1024: that is what the card has, in both questions; what is refused is refused as out of memory, and can be had again."""
from common import MIB, check, figures, within
from driver import OUT_OF_MEMORY, Card

card = Card()
free, total = card.memory_info()
check(total == 1024 * MIB, f"cuMemGetInfo says {total / MIB} MiB")
check(card.total() == 1024 * MIB, f"cuDeviceTotalMem says {card.total() / MIB} MiB")
within(free, 0, total, "free bytes")
pieces, error = card.take()
check(error == OUT_OF_MEMORY, f"refused with {error} after {len(pieces)} pieces")
given = 64 * len(pieces)
within(given, 64, 1024 - 64, "MiB given beside the context")
within(card.memory_info()[0] / MIB, 0, 64, "MiB free when full")
for piece in pieces:
    card.call("cuMemFree_v2", piece)
again, error = card.take()
check(len(again) == len(pieces) and error == OUT_OF_MEMORY, f"the second time {len(again)} pieces instead of {len(pieces)}")
for piece in again:
    card.call("cuMemFree_v2", piece)
card.run_kernel()
figures(total_mib=total // MIB, free_mib=free // MIB, given_mib=given, error=error)
