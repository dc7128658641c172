"""PyTorch with --memory 2048: what it is told, its own out-of-memory error beyond, and life afterwards. Also expandable segments."""
import os, sys
from common import check, figures, within

if "--expandable" in sys.argv:
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = os.environ["PYTORCH_ALLOC_CONF"] = "expandable_segments:True"
import torch

MIB = 1 << 20
free, total = torch.cuda.mem_get_info()
check(total == 2048 * MIB, f"mem_get_info says {total / MIB} MiB")
check(torch.cuda.get_device_properties(0).total_memory == 2048 * MIB, "get_device_properties")
kept, refused = [], None
try:
    for _ in range(64):
        kept.append(torch.full((64 * MIB,), 1, dtype=torch.uint8, device="cuda"))
except Exception as e:  # any other class is what this looks for
    refused = e
given = 64 * len(kept)
kind = getattr(torch, "OutOfMemoryError", torch.cuda.OutOfMemoryError)
check(isinstance(refused, kind), f"refused with {type(refused)}: {refused}")
within(given, 512, 2048 - 64, "MiB given")
check(int(kept[-1][-1]) == 1, "the last piece holds what was written")
kept.clear()
torch.cuda.empty_cache()
x = torch.randn(1024, 1024, device="cuda")
check(bool(torch.isfinite(x @ x).all()), "a product afterwards")
big = torch.zeros((given - 128) * MIB, dtype=torch.uint8, device="cuda")
torch.cuda.synchronize()
segments = [s.get("is_expandable") for s in torch.cuda.memory_snapshot()]
check("--expandable" not in sys.argv or any(segments), f"no segment is expandable: {segments}")
figures(torch=torch.__version__, total_mib=total // MIB, given_mib=given, error=type(refused).__name__, expandable=any(segments))
