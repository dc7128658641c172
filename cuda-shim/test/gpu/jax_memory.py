"""JAX with --memory 4096, its memory taken at the start (its default) or as it goes (--on-demand): its share, its error beyond, life afterwards."""
import os, sys
from common import check, figures, skip, within

os.environ.pop("XLA_PYTHON_CLIENT_PREALLOCATE", None)
if "--on-demand" in sys.argv:
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
import jax
import jax.numpy as jnp

try:
    device = jax.devices("gpu")[0]
except RuntimeError as e:
    skip(f"jax: has no GPU back end here: {str(e).splitlines()[0][:160]}")
MIB = 1 << 20
stats = device.memory_stats() or {}
limit = stats.get("bytes_limit", 0)
within(limit / MIB, 512, 4096, "MiB that JAX counts with")
x = jnp.ones((1024, 1024))
check(float(jax.jit(lambda v: (v @ v).sum())(x)) == 1024.0**3, "a product")
refused = None
try:
    jnp.zeros((8 << 30) // 4, dtype=jnp.float32).block_until_ready()
except Exception as e:  # any other class is what this looks for
    refused = e
check(refused is not None and "RESOURCE_EXHAUSTED" in str(refused), f"refused with {type(refused)}: {refused}")
kept = []
try:
    for _ in range(80):
        kept.append(jnp.full(64 * MIB // 4, 1.0, dtype=jnp.float32).block_until_ready())
except Exception as e:
    refused = e
check("RESOURCE_EXHAUSTED" in str(refused), f"piece by piece refused with {type(refused)}: {refused}")
given = 64 * len(kept)
within(given, 512, 4096 - 64, "MiB given")
kept.clear()
check(float(jax.jit(lambda v: (v @ v).sum())(x)) == 1024.0**3, "a product afterwards")
figures(jax=jax.__version__, limit_mib=limit // MIB, given_mib=given, error=type(refused).__name__)
