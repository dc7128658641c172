"""Triton with --memory 2048 --cores 50: a kernel that it compiles, launched by its own launcher."""
import atexit, os, shutil, tempfile
from common import check, figures, skip

if not any(shutil.which(c) for c in (os.environ.get("CC", "cc"), "gcc", "clang")):
    skip("triton: wants a C compiler for its launcher")
cache = os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()  # so that it compiles here and now
atexit.register(shutil.rmtree, cache, ignore_errors=True)
import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


n = 1_000_003
x, y = torch.rand(n, device="cuda"), torch.rand(n, device="cuda")
out = torch.empty_like(x)
for _ in range(200):
    add[(triton.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)
torch.cuda.synchronize()
check(torch.equal(out, x + y), "the sum")
figures(triton=triton.__version__, torch=torch.__version__)
