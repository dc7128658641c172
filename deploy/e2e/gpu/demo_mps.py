#!/usr/bin/env python3
"""The same with cards that the agent partitions by MPS: it starts their daemons, the pod's program becomes a client of 10 %, and
has no more when it takes the variables away, or when the agent and the daemon have ended. Needs root, the driver's own
nvidia-cuda-mps-control, and that nothing else uses the cards; with --fake a script plays the daemon.

Prints each step, at the end `demo-mps: PASS`, and writes build/mps-demo.json. Status 77 without a card or a daemon.
"""
import json, os, shutil, subprocess, sys, time, urllib.request

from demo_gpu import BOUND, CORES, ROOT, Demo, main, mount

FAKE_CONTROL = os.path.join(ROOT, "cuda-shim", "test", "fake", "mps", "nvidia-cuda-mps-control")
PROBE = [sys.executable, os.path.join(ROOT, "cuda-shim", "test", "gpu", "mps.py"), "--probe"]


class MpsDemo(Demo):
    def driver_flags(self):
        control = FAKE_CONTROL if self.o.fake else shutil.which("nvidia-cuda-mps-control")
        return ["--container-driver-root", "/", "--mps-devices", "all", "--mps-control", control]

    def mounted(self, answer):
        super().mounted(answer)
        host = {m["container"]: m["host"] for m in answer["mounts"]}
        told = {k: v for k, v in answer["environment"].items() if "MPS" in k}
        self.step("the answer makes the pod's processes clients", told.get("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE") == str(CORES) and
                  told.get("CUDA_MPS_PIPE_DIRECTORY") in host and "/dev/shm" in host, told)
        self.pipe = host[told["CUDA_MPS_PIPE_DIRECTORY"]]  # where it is, as its place in a container is not ours to make
        mount("--bind", host["/dev/shm"], "/dev/shm")
        self.limited.update(told, CUDA_MPS_PIPE_DIRECTORY=self.pipe)

    def serves(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.o.port}/metrics", timeout=BOUND) as page:
            lines = [x for x in page.read().decode().splitlines() if x.startswith("vgpu_mps_serves")]
        self.step("the agent's daemons serve", lines and all(x.endswith(" 1.0") for x in lines), f"{len(lines)} of them")

    def multiprocessors(self):
        def probed(env):
            return json.loads(subprocess.run(PROBE, stdout=subprocess.PIPE, text=True, timeout=BOUND, env=env, check=True).stdout)
        whole, part = probed(dict(self.limited, LD_PRELOAD="", CUDA_MPS_PIPE_DIRECTORY="/nowhere")), probed(self.limited)
        self.step(f"it has at most {CORES} % of the multiprocessors", part["mps"] == 1 and
                  0 < 100 * part["multiprocessors"] <= CORES * whole["multiprocessors"],
                  f"{part['multiprocessors']} of {whole['multiprocessors']}")

    def rate(self, env, seconds="3"):
        got = self.json("bench-work", *self.load_words, seconds, env=env)
        return got["kernels"] / got["seconds"]

    def shares(self):
        self.load_words = ["--rounds", str(self.json("bench-work", "--calibrate", "740", env=self.native)["rounds"]), "--depth", "32",
                     "--seconds"]
        native = self.rate(self.native)
        client = 100 * self.rate(self.limited) / native
        low, high = (90, 101) if self.o.fake else (CORES / 2, CORES + 2)  # the fake's kernels do not mind how many they have
        self.step("as a client nothing is paced", low <= client <= high, f"{client:.2f} % of {native:.0f} kernels/s")
        less = {k: v for k, v in self.limited.items() if k != "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"}
        self.by_time("without the variable its share is kept by time", less, native)
        self.agent.terminate()
        self.agent.wait(timeout=BOUND)
        end = time.monotonic() + BOUND
        while os.path.exists(os.path.join(self.pipe, "control")) and time.monotonic() < end:
            time.sleep(0.1)
        self.step("the agent ends its daemons", not os.path.exists(os.path.join(self.pipe, "control")), os.listdir(self.pipe))
        self.by_time("without a daemon too", self.limited, native)

    def by_time(self, what, env, native):
        for _ in range(3 if self.o.fake else 1):  # a busy machine may let a process on the fake card starve
            share = 100 * self.rate(env) / native
            if share >= CORES - 1:
                break
        self.step(what, abs(share - CORES) <= 1.5, f"{share:.2f} %")

    def run(self):
        mount("-t", "tmpfs", "-o", "mode=0755", "tmpfs", self.work)
        self.mounted(self.start())
        self.serves()
        self.multiprocessors()
        self.memory()
        self.shares()


if __name__ == "__main__":
    if "--fake" not in sys.argv and shutil.which("nvidia-cuda-mps-control") is None:
        print("skipped: no nvidia-cuda-mps-control")
        sys.exit(77)
    sys.exit(main(MpsDemo, "mps", __doc__))
