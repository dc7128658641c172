"""PyTorch: a captured graph replayed under --cores 25 computes the same, at a quarter of the rate."""
import sys, time
from common import check, figures, myself

if sys.argv[1:] != ["run"]:
    native, limited = myself([], "run"), myself(["--cores", "25"], "run")
    share = 100 * limited["rate"] / native["rate"]
    check(20 <= share <= 30, f"share {share:.1f} %, must be 25 +- 5 (native {native}, limited {limited})")
    figures(share_percent=round(share, 2), native_per_s=round(native["rate"], 1))
    sys.exit(0)

import torch

torch.manual_seed(0)
torch.backends.cuda.matmul.allow_tf32 = False
a = torch.randn(2048, 2048, device="cuda") / 64
x = torch.randn(2048, 2048, device="cuda")


def step(v):
    for _ in range(4):
        v = torch.relu(v @ a)
    return v


side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        step(x)
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    y = step(x)
x.copy_(torch.randn(2048, 2048, device="cuda"))
graph.replay()
torch.cuda.synchronize()
check(torch.allclose(y, step(x), rtol=1e-3, atol=1e-3), "the graph computes what the steps compute")
count, end, start = 0, time.monotonic() + 7, None
while time.monotonic() < end:
    for _ in range(10):
        graph.replay()
    torch.cuda.synchronize()
    if start is None and time.monotonic() > end - 5:
        start, count = time.monotonic(), 0
    else:
        count += 10
figures(rate=count / (time.monotonic() - start))
