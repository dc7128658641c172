"""CuPy with --memory 2048 --cores 50: pool, its own out-of-memory error, a RawKernel."""
from common import check, figures, within

import cupy

MIB = 1 << 20
free, total = cupy.cuda.runtime.memGetInfo()
check(total == 2048 * MIB, f"memGetInfo says {total / MIB} MiB")
kept, refused = [], None
try:
    for _ in range(64):
        kept.append(cupy.ones(64 * MIB, dtype=cupy.uint8))
except Exception as e:  # any other class is what this looks for
    refused = e
check(isinstance(refused, cupy.cuda.memory.OutOfMemoryError), f"refused with {type(refused)}: {refused}")
given = 64 * len(kept)
within(given, 512, 2048 - 64, "MiB given")
kept.clear()
cupy.get_default_memory_pool().free_all_blocks()
kernel = cupy.RawKernel(r'extern "C" __global__ void twice(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }', "twice")
x = cupy.arange(100000, dtype=cupy.float32)
for _ in range(3):
    kernel((400,), (256,), (x, cupy.int32(100000)))
check(float(x[99999]) == 8 * 99999.0, f"the kernel gave {x[99999]}")
pool = cupy.cuda.MemoryAsyncPool()
with cupy.cuda.using_allocator(pool.malloc):
    check(float(cupy.ones(16 * MIB, dtype=cupy.float32).sum()) == 16 * MIB, "the pool in stream order")
figures(cupy=cupy.__version__, total_mib=total // MIB, given_mib=given, error=type(refused).__name__)
