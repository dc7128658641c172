"""25 % of a kernel of 0.74 ms, against the same work without limits."""
import os
from common import BINARIES, check, figures, json_of, under

work = os.path.join(BINARIES, "bench-work")
rounds = json_of([work, "--calibrate", "740"])["rounds"]


def rate(limits, seconds):
    got = json_of(under(limits, [work, "--rounds", str(rounds), "--depth", "32", "--seconds", str(seconds), "--warm", "2"]))
    return got["kernels"] / got["seconds"], got["launch_owner"]


native, _ = rate([], 3)
limited, owner = rate(["--cores", "25"], 8)
share = 100 * limited / native
check("libvgpu-control" in owner, f"what was measured belongs to {owner}")
check(abs(share - 25) <= 2, f"share {share:.2f} %, must be 25 +- 2 (native {native:.0f}, limited {limited:.0f} kernels/s)")
figures(share_percent=round(share, 2), native_per_s=round(native, 1), limited_per_s=round(limited, 1))
