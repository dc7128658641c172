"""A program that nvcc builds, with --memory 1024."""
import glob, os, shutil, subprocess, tempfile
from common import check, figures, json_of, skip, under, within

nvcc = shutil.which("nvcc") or next(iter(sorted(glob.glob("/usr/local/cuda*/bin/nvcc"))), None)
if nvcc is None:
    skip("no nvcc")
with tempfile.TemporaryDirectory() as work:
    program = os.path.join(work, "runtime")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "runtime.cu")
    built = subprocess.run([nvcc, "-arch=native", "-o", program, source], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=50)
    if built.returncode != 0:
        skip(f"nvcc: {built.stdout.strip()[-300:]}")
    got = json_of(under(["--memory", "1024"], [program]))
check(got["total_mib"] == 1024 and got["properties_mib"] == 1024, f"told {got}")
check(got["error"] == 2 and got["async_error"] == 2, f"refused with {got}")
within(got["given_mib"], 64, 1024 - 64, "MiB given")
within(got["async_mib"], 64, 1024 - 64, "MiB given in stream order")
figures(**got)
