#!/usr/bin/env python3
"""Shares kept by MPS: two tenants of 25 and 50 %, what the driver says of their multiprocessors, and tenants that change the variables.

Starts a daemon of its own for one card, in a directory of its own, and ends it by `quit`. Nothing else may use the card. Run by
gpu_tests.py, or alone:   mps.py FOLDER [--control PROGRAM] [--gpu INDEX] [--seconds N]
FOLDER holds vgpu-run, libvgpu-control.so and bench-work.
"""
import argparse, concurrent.futures, json, os, shutil, subprocess, sys, tempfile, time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("binaries", nargs="?", default=os.environ.get("VGPU_BINARIES", ""))
parser.add_argument("--control", default=shutil.which("nvidia-cuda-mps-control"), help="the daemon's program")
parser.add_argument("--gpu", default="0")
parser.add_argument("--seconds", type=float, default=2, help="how long each share is measured")
parser.add_argument("--probe", action="store_true", help="inside: say what the driver says of this process")
o = parser.parse_args()
os.environ["VGPU_BINARIES"] = os.path.abspath(o.binaries)

import ctypes
from common import BINARIES, MIB, check, figures, json_of, skip, under
from driver import Card, load

ATTRIBUTE_MULTIPROCESSORS, ATTRIBUTE_MPS = 16, 133
WORK = os.path.join(BINARIES, "bench-work")


def attribute(lib, which):
    value = ctypes.c_int(-1)
    lib.cuDeviceGetAttribute(ctypes.byref(value), which, 0)  # -1 stays where it is not known
    return value.value


def probe():
    lib = load()
    check(lib.cuInit(0) == 0, "cuInit")
    first = attribute(lib, ATTRIBUTE_MULTIPROCESSORS)
    os.environ.update({k.removeprefix("THEN_"): v for k, v in os.environ.items() if k.startswith("THEN_")})
    card = Card()
    card.run_kernel()
    pieces, error = card.take(most=256)
    figures(at_init=first, multiprocessors=attribute(lib, ATTRIBUTE_MULTIPROCESSORS), mps=attribute(lib, ATTRIBUTE_MPS),
            total_mib=card.total() // MIB, given_mib=64 * len(pieces), error=error)


class Daemon:
    """One daemon for one card; gone, with its directory, when the block ends."""

    def __init__(self, card):
        self.directory = tempfile.mkdtemp(prefix="vgpu-mps-")
        self.pipe, self.log = os.path.join(self.directory, "pipe"), os.path.join(self.directory, "log")
        os.mkdir(self.pipe)
        os.mkdir(self.log)
        self.env = dict(os.environ, CUDA_VISIBLE_DEVICES=card, CUDA_MPS_PIPE_DIRECTORY=self.pipe, CUDA_MPS_LOG_DIRECTORY=self.log)

    def tell(self, command):
        return subprocess.run([o.control], input=command + "\n", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=20, env=self.env)

    def serves(self):
        return self.tell("get_default_active_thread_percentage").returncode == 0

    def __enter__(self):
        with open(os.path.join(self.log, "start"), "w") as out:  # a file: the daemon would keep a pipe open
            began = subprocess.run([o.control, "-d"], stdin=subprocess.DEVNULL, stdout=out, stderr=out, timeout=20, env=self.env)
        until = time.monotonic() + 10
        while began.returncode == 0 and time.monotonic() < until and not self.serves():
            time.sleep(0.1)
        if began.returncode != 0 or not self.serves():
            with open(os.path.join(self.log, "start")) as said:
                skip(f"the MPS daemon does not start here: {said.read().strip()[-200:]}")
        return self

    def __exit__(self, *what):
        self.tell("quit")
        until = time.monotonic() + 15
        while os.path.exists(os.path.join(self.pipe, "nvidia-cuda-mps-control.pid")) and time.monotonic() < until:
            time.sleep(0.1)
        shutil.rmtree(self.directory, ignore_errors=True)


def ask(env, command, limits=("--mps", "--cores", "25"), timeout=50):
    return json_of(under([*limits, "--gpu", o.gpu], command), timeout=timeout, env=env)


def probed(env, limits=("--mps", "--cores", "25"), around=(), timeout=50):
    return ask(env, [*around, sys.executable, os.path.abspath(__file__), "--probe"], limits, timeout)


def work(rounds, *around):
    return [*around, WORK, "--rounds", str(rounds), "--depth", "32", "--seconds", str(o.seconds), "--warm", "1"]


def rate(got):
    return got["kernels"] / got["seconds"]


def main():
    for file in ("vgpu-run", "libvgpu-control.so", "bench-work"):
        if not os.path.exists(os.path.join(BINARIES, file)):
            parser.error(f"binaries: {BINARIES}: has no {file}")
    if o.control is None:
        skip("no nvidia-cuda-mps-control")
    fake = hasattr(load(), "fakeCudaCalls")  # its clients still take turns: then only what is paced by time tells something
    native = {k: v for k, v in os.environ.items() if not k.startswith("CUDA_MPS_")}
    plain = probed(native, ["--memory", "8192"])
    all_of_it = plain["multiprocessors"]
    check(plain["mps"] <= 0, "the card is under MPS already")
    rounds = json_of([WORK, "--calibrate", "740"], env=native)["rounds"]
    reference = rate(json_of(under(["--memory", "8192", "--gpu", o.gpu], work(rounds)), env=native))
    found = {"multiprocessors": all_of_it, "native_per_s": round(reference, 1)}
    card = subprocess.check_output(under(["--memory", "8192", "--gpu", o.gpu], ["printenv", "CUDA_VISIBLE_DEVICES"]), text=True).strip()

    def share(got):
        return round(100 * rate(got) / reference, 2)

    with Daemon(card) as daemon:
        env = dict(native, CUDA_MPS_PIPE_DIRECTORY=daemon.pipe)
        for percent in (10, 25, 50):
            got = probed(env, ["--mps", "--cores", str(percent)])
            found[f"multiprocessors_{percent}"] = got["multiprocessors"]
            found[f"at_init_{percent}"] = got["at_init"]
            check(0 < 100 * got["multiprocessors"] <= percent * all_of_it, f"{percent} %: {got} of {all_of_it}")
        memory = probed(env, ["--mps", "--cores", "25", "--memory", "2048"])
        found["given_mib_of_2048"] = memory["given_mib"]
        check(memory["total_mib"] == 2048 and memory["error"] == 2 and memory["given_mib"] < 2048, f"memory: {memory}")

        with concurrent.futures.ThreadPoolExecutor() as threads:
            both = [threads.submit(ask, env, work(rounds), ("--mps", "--cores", c)) for c in ("25", "50")]
            found["shares_25_50"] = [share(b.result()) for b in both]
        for got, limit in zip(found["shares_25_50"], (25, 50)):
            check(fake or abs(got - limit) <= 5, f"25 and 50 % together: {found['shares_25_50']}")
        two = 'first=$(mktemp) && { "$@" >"$first" & } && "$@" && wait && cat "$first"'
        lines = subprocess.run(under(["--mps", "--cores", "25", "--gpu", o.gpu], ["sh", "-c", two, "sh", *work(rounds)]),
                               stdout=subprocess.PIPE, text=True, timeout=60, env=env).stdout.splitlines()
        found["two_processes"] = round(sum(share(json.loads(x)) for x in lines if x.startswith("{")), 2)
        check(fake or 15 <= found["two_processes"] <= 30, f"two processes of one tenant: {found['two_processes']} %, must be 25")

        attacks = {"percentage_removed": ["env", "-u", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"],
                   "percentage_100": ["env", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=100"],
                   "percentage_50": ["env", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=50"],
                   "directory_removed": ["env", "-u", "CUDA_MPS_PIPE_DIRECTORY"]}
        for name, around in attacks.items():
            found[name] = share(ask(env, work(rounds, *around)))
            check(found[name] <= 27.5, f"{name}: {found[name]} % of a limit of 25")
        # whether the driver tells of a context that was made with another percentage than the process began with
        later = ["env", "CUDA_MPS_ENABLE_PER_CTX_DEVICE_MULTIPROCESSOR_PARTITIONING=1", "THEN_CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=100"]
        found["raised_later"] = probed(env, around=later)["multiprocessors"]
        # what a container may be given: whether a client does with less
        for name, mounts in {"read_only_pipe": 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0"',
                             "shm_of_its_own": "mount -t tmpfs none /dev/shm"}.items():
            inside = ["unshare", "--mount", "sh", "-c", mounts + ' && exec "$@"', daemon.pipe]
            if subprocess.run([*inside, "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
                try:
                    found[name] = probed(env, around=inside, timeout=10)["multiprocessors"]
                except (SystemExit, subprocess.TimeoutExpired):  # what a check has just said; or it waits for ever
                    found[name] = "no context"
    check(not os.path.exists(daemon.directory), "the daemon's directory is still there")
    figures(**found)


if o.probe:
    probe()
else:
    main()
