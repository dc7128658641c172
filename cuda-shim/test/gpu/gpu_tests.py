#!/usr/bin/env python3
"""Runs the tests that need a GPU, each in a process of its own and for at most a minute: one line a test, then all of it as JSON.

Needs a driver, and the built vgpu-run, libvgpu-control.so and bench-work in one folder; nothing else may use the card. What a test wants
beyond (PyTorch, JAX, CuPy, Triton, nvcc, nvidia-smi) may be missing: then it is skipped, with its name. Status: 0 all that ran passed, 1 one
failed, 77 none could run.
"""
import argparse, ctypes, json, os, signal, subprocess, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77
# name: file and its arguments, limits under which it runs (none: it sets them itself), Python modules that it wants
TESTS = {
    "memory-linear": (["memory_linear.py"], ["--memory", "1024"], []),
    "memory-async": (["memory_async.py"], ["--memory", "1024"], []),
    "memory-vmm": (["memory_vmm.py"], ["--memory", "1024"], []),
    "memory-managed": (["memory_managed.py"], ["--memory", "1024"], []),
    "memory-processes": (["memory_processes.py"], ["--memory", "3072"], []),
    "fork-before": (["fork_before.py"], ["--memory", "3072"], []),
    "fork-after": (["fork_after.py"], ["--memory", "1024", "--cores", "50"], []),
    "cuda-runtime": (["cuda_runtime.py"], [], []),
    "nvidia-smi": (["nvidia_smi.py"], [], []),
    "accuracy": (["accuracy.py"], [], []),
    "mps": (["mps.py"], [], []),
    "torch-memory": (["torch_memory.py"], ["--memory", "2048"], ["torch"]),
    "torch-expandable": (["torch_memory.py", "--expandable"], ["--memory", "2048"], ["torch"]),
    "torch-graph": (["torch_graph.py"], [], ["torch"]),
    "torch-train": (["torch_train.py"], ["--memory", "4096", "--cores", "50"], ["torch"]),
    "jax-preallocated": (["jax_memory.py"], ["--memory", "4096", "--cores", "50"], ["jax"]),
    "jax-on-demand": (["jax_memory.py", "--on-demand"], ["--memory", "4096", "--cores", "50"], ["jax"]),
    "cupy": (["cupy_memory.py"], ["--memory", "2048", "--cores", "50"], ["cupy"]),
    "triton": (["triton_kernel.py"], ["--memory", "2048", "--cores", "50"], ["torch", "triton"]),
}


# what tells whether a module is there and sees a card, where importing it is not enough
PROBES = {"torch": "import torch, sys; torch.cuda.is_available() or sys.exit('torch sees no card here')"}


def has_card():
    """In a process of its own: this one shall not have used the driver."""
    child = os.fork()
    if child == 0:
        try:
            driver, count = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(0)
            os._exit(0 if driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0 else 1)
        except (OSError, AttributeError):
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


class Suite:
    def __init__(self, options):
        self.o = options
        self.imports = {}

    def run(self, words, seconds):
        """What it printed, and its status; None: it took longer and was killed with all it started."""
        began = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 errors="replace", start_new_session=True, env=dict(os.environ, VGPU_BINARIES=self.o.binaries))
        try:
            return began.communicate(timeout=seconds)[0], began.returncode
        except subprocess.TimeoutExpired:
            os.killpg(began.pid, signal.SIGKILL)
            return began.communicate()[0], None

    def lacks(self, modules):
        """Why these modules cannot be used, without limits; None when they can. Also warms the files up."""
        for m in modules:
            if m not in self.imports:
                out, status = self.run([sys.executable, "-c", PROBES.get(m, f"import {m}")], 150)
                last = (out.strip().splitlines() or ["?"])[-1]
                self.imports[m] = None if status == 0 else f"no {m}" if f"'{m}'" in last else f"{m}: cannot be used: {last[:160]}"
            if self.imports[m] is not None:
                return self.imports[m]
        return None

    def one(self, name):
        (file, *arguments), limits, modules = TESTS[name]
        lack = self.lacks(modules)
        if lack is not None:
            return {"outcome": "SKIP", "why": lack}
        words = [sys.executable, os.path.join(HERE, file), *arguments]
        if limits:
            words = [os.path.join(self.o.binaries, "vgpu-run"), *limits, "--", *words]
        out, status = self.run(words, self.o.timeout)

        def said(begin):  # frameworks may print before and after
            return next((line for line in reversed(out.splitlines()) if line.startswith(begin)), None)

        if status == SKIPPED and said("skipped: "):
            return {"outcome": "SKIP", "why": said("skipped: ").removeprefix("skipped: ")}
        if status == 0 and said("{"):
            return {"outcome": "PASS", "figures": json.loads(said("{"))}
        why = f"longer than {self.o.timeout:g} s" if status is None else said("FAILED: ") or f"status {status}"
        return {"outcome": "FAIL", "why": why, "output": out[-4000:]}

    def all(self, names):
        results = {}
        for name in names:
            began = time.monotonic()
            r = results[name] = self.one(name)
            r["seconds"] = round(time.monotonic() - began, 1)
            what = r.get("why") or " ".join(f"{k}={v}" for k, v in r["figures"].items())
            print(f"{r['outcome']} {name:17s} {r['seconds']:5.1f} s  {'skipped: ' if r['outcome'] == 'SKIP' else ''}{what}", flush=True)
            if r["outcome"] == "FAIL":
                print("    " + "\n    ".join(r["output"].strip().splitlines()[-25:]), flush=True)
        return results


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("binaries", help="the folder of vgpu-run, libvgpu-control.so and bench-work")
    p.add_argument("--only", default="", help="names, with commas between them")
    p.add_argument("--out", help="a file for the JSON too")
    p.add_argument("--timeout", type=float, default=60, help="seconds that a test may take")
    p.add_argument("--list", action="store_true", help="print the names")
    o = p.parse_args()
    if o.list:
        print("\n".join(TESTS))
        return 0
    names = [n for n in o.only.split(",") if n] or list(TESTS)
    unknown = [n for n in names if n not in TESTS]
    if unknown:
        p.error(f"--only: {unknown[0]}: no such test; there are {', '.join(TESTS)}")
    o.binaries = os.path.abspath(o.binaries)
    for file in ("vgpu-run", "libvgpu-control.so", "bench-work"):
        if not os.path.exists(os.path.join(o.binaries, file)):
            p.error(f"binaries: {o.binaries}: has no {file}")
    if not has_card():
        print("skipped: no GPU", flush=True)
        return SKIPPED
    results = Suite(o).all(names)
    count = {k: sum(r["outcome"] == k for r in results.values()) for k in ("PASS", "FAIL", "SKIP")}
    whole = json.dumps({"passed": count["PASS"], "failed": count["FAIL"], "skipped": count["SKIP"], "tests": results})
    print(whole, flush=True)
    if o.out:
        os.makedirs(os.path.dirname(os.path.abspath(o.out)), exist_ok=True)
        with open(o.out, "w") as f:
            f.write(whole + "\n")
    return 1 if count["FAIL"] else 0 if count["PASS"] else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
