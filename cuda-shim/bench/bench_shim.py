#!/usr/bin/env python3
"""Measures the library on a card: what a call costs, and how well limits are kept. Prints a table, writes build/bench/shim.json.

Work done under a limit is compared with work done without the library on the same card, minutes apart. Lengths of kernels and
limits come from a seed, around the nominal ones. Needs a driver and vgpu-run; nothing else may use the card.
"""
import argparse, json, os, random, statistics, subprocess, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
LENGTHS = {"8x76us": (76, 8, 2), "0.74ms": (740, 1, 32), "7.3ms": (7300, 1, 4), "50ms": (50000, 1, 2)}  # us, batch, depth


class Bench:
    def __init__(self, options):
        self.o = options
        self.random = random.Random(options.seed)
        self.us = {k: v[0] * self.random.uniform(0.9, 1.1) for k, v in LENGTHS.items()}
        self.rounds, self.reference, self.rows, self.runs = {}, {}, [], []

    def run_prefix(self, cores=None, memory=None, policy=None, soft=None):
        words = [self.o.vgpu_run]
        if cores is not None:
            words += ["--cores", f"{cores}"]
        if memory is not None:
            words += ["--memory", str(memory)]
        if policy is not None:
            words += ["--policy", policy]
        return words + ["--"]

    def work(self, length, start_at, seconds, warm=None, window_ms=1000, batch=None, depth=None, extra=()):
        _, b, d = LENGTHS[length]
        warm = self.o.warm if warm is None else warm
        return [self.o.work, "--rounds", str(self.rounds[length]), "--batch", str(batch or b), "--depth", str(depth or d),
                "--seconds", str(seconds), "--warm", str(warm), "--window-ms", str(window_ms), "--start-at", str(start_at), *extra]

    def together(self, commands):
        """Runs commands at one time; their JSON in order. A list of lists: several processes of one container."""
        started = [subprocess.Popen(c, stdout=subprocess.PIPE, text=True) for c in commands]
        try:
            out = [p.communicate(timeout=self.o.timeout)[0] for p in started]
        except subprocess.TimeoutExpired:
            for p in started:
                p.kill()
            sys.exit(f"{' '.join(commands[0])}: not done in {self.o.timeout:g} s")
        for p, c in zip(started, commands):
            if p.returncode != 0:
                sys.exit(f"{' '.join(c)}: status {p.returncode}")
        return [[json.loads(line) for line in o.splitlines() if line.startswith("{")] for o in out]

    def soon(self, processes=1):
        return time.clock_gettime_ns(time.CLOCK_MONOTONIC) + int((1.6 + 0.4 * processes) * 1e9)

    def calibrate(self):
        for k in LENGTHS:
            got = json.loads(subprocess.check_output([self.o.work, "--calibrate", str(self.us[k])], text=True))
            self.rounds[k] = got["rounds"]
            print(f"kernel {k}: {got['rounds']} rounds, {got['measured_us']:.1f} us", flush=True)

    def references(self):
        for k in LENGTHS:
            r = self.together([self.work(k, self.soon(), self.o.seconds / 2)])[0][0]
            self.reference.setdefault(k, []).append(r["kernels"] / r["seconds"])

    def rate(self, length):
        return statistics.mean(self.reference[length])

    def share(self, length, result):
        return 100.0 * sum(r["kernels"] / r["seconds"] for r in result) / self.rate(length)

    def cv(self, result):
        windows = [sum(w) for w in zip(*(r["windows"] for r in result))]
        mean = statistics.mean(windows) if windows else 0
        return statistics.pstdev(windows) / mean if mean > 0 else float("nan")

    def case(self, name, tenants, seconds=None, processes=1, policy=None):
        """tenants: (length, limit, extra work options). Returns the shares."""
        seconds = seconds or self.o.seconds
        start = self.soon(len(tenants) * processes)
        commands = []
        for length, limit, options in tenants:
            words = self.work(length, start, seconds, **options)
            if processes > 1:
                words = ["sh", "-c", " & ".join([" ".join(words)] * processes) + " & wait"]
            commands.append(self.run_prefix(cores=limit, policy=policy) + words)
        results = self.together(commands)
        shares = [self.share(t[0], r) for t, r in zip(tenants, results)]
        cvs = [self.cv(r) for r in results]
        self.runs.append({"case": name, "tenants": [(t[0], t[1]) for t in tenants], "shares": shares, "cv": cvs,
                          "results": results})
        print(f"{name:34s} " + "  ".join(f"{t[0]}@{t[1]}: {s:6.2f} (CV {c:.3f})" for t, s, c in zip(tenants, shares, cvs)),
              flush=True)
        return shares, cvs

    def row(self, name, value, must, good):
        self.rows.append({"figure": name, "value": value, "must": must, "met": bool(good)})

    # ---- the figures ----

    def cost(self):
        def run(prefix, env=None):
            return json.loads(subprocess.check_output(prefix + [self.o.cost, str(self.o.scale)], text=True, env=env))
        passive = run([], dict(os.environ, LD_PRELOAD=self.o.library))
        limited = run(self.run_prefix(cores=90, memory=self.o.memory))
        self.runs += [{"case": "cost passive", "result": passive}, {"case": "cost limited", "result": limited}]
        ours = os.path.basename(os.path.realpath(self.o.library))
        for r in (passive, limited):
            for k in ("launch", "malloc_free_1mib", "malloc_async_free_1mib"):
                if os.path.basename(os.path.realpath(r[k]["owner"])) != ours:
                    sys.exit(f"{k}: measured {r[k]['owner']}, not the library")
        for name, r, k, must in (("launch, passive", passive, "launch", 30), ("launch under a core limit", limited, "launch", 80),
                                 ("cudaMalloc+cudaFree 1 MiB", limited, "malloc_free_1mib", 1500),
                                 ("cudaMallocAsync+FreeAsync 1 MiB", limited, "malloc_async_free_1mib", 500)):
            v = r[k]
            self.row(name, f"+{v['added_ns']:.1f} ns [{v['low_ns']:.1f}, {v['high_ns']:.1f}] of {v['native_ns']:.0f}",
                     f"<= {must} ns", v["added_ns"] <= must)
            print(self.rows[-1], flush=True)

    def alone(self):
        errors, cvs = {}, []
        for nominal in (10, 25, 50, 75):
            limit = nominal if self.o.nominal else max(5, min(90, nominal + self.random.randint(-3, 3)))
            for length in LENGTHS:
                (share,), (cv,) = self.case("alone", [(length, limit, {})])
                errors[f"{length}@{limit}"] = share - limit
                if length != "50ms":
                    cvs.append(cv)
        worst = max(errors, key=lambda k: abs(errors[k]))
        mae = statistics.mean(abs(e) for e in errors.values())
        self.row("alone: mean abs. error", f"{mae:.2f} points", "<= 0.5", mae <= 0.5)
        self.row("alone: worst", f"{errors[worst]:+.2f} points ({worst})", "<= 1.5", abs(errors[worst]) <= 1.5)
        self.row("alone: CV of 1 s windows (<= 7.3 ms)", f"{max(cvs):.3f}", "<= 0.03", max(cvs) <= 0.03)

    def pairs(self):
        errors = {}
        for a in LENGTHS:
            for b in LENGTHS:
                shares, _ = self.case("25 + 50", [(a, 25, {}), (b, 50, {})])
                errors[f"25:{a}+50:{b} first"] = shares[0] - 25
                errors[f"25:{a}+50:{b} second"] = shares[1] - 50
        worst = max(errors, key=lambda k: abs(errors[k]))
        mae = statistics.mean(abs(e) for e in errors.values())
        self.row("25 + 50: mean abs. error", f"{mae:.2f} points", "<= 0.7", mae <= 0.7)
        self.row("25 + 50: worst", f"{errors[worst]:+.2f} points ({worst})", "<= 2.5", abs(errors[worst]) <= 2.5)

    def four(self):
        shares, _ = self.case("four of 20", [(k, 20, {}) for k in LENGTHS])
        worst = max((s - 20 for s in shares), key=abs)
        self.row("four containers of 20 %", ", ".join(f"{s:.1f}" for s in shares), "each +- 2.5", abs(worst) <= 2.5)

    def processes(self):
        for length in ("0.74ms", "7.3ms"):
            (share,), _ = self.case("4 processes in one", [(length, 50, {})], processes=4)
            self.row(f"4 processes in one container at 50 %, {length}", f"{share:.1f}", "50 +- 2.5", abs(share - 50) <= 2.5)

    def turns(self):
        cases = (("0.74ms sync", ("0.74ms", {"depth": 1}), ("0.74ms", {"depth": 1})),
                 ("0.74ms queued", ("0.74ms", {}), ("0.74ms", {})),
                 ("76us queued", ("8x76us", {"depth": 32}), ("8x76us", {"depth": 32})),
                 ("8x76us + 0.74ms", ("8x76us", {"depth": 1}), ("0.74ms", {})),
                 ("7.3ms + 0.74ms", ("7.3ms", {}), ("0.74ms", {})))
        for name, a, b in cases:
            shares, _ = self.case("50 + 50 " + name, [(a[0], 50, a[1]), (b[0], 50, b[1])])
            total, off = sum(shares), abs(shares[0] - shares[1]) / 2
            self.row(f"50 + 50 saturating, {name}", f"{shares[0]:.1f} + {shares[1]:.1f} = {total:.1f}",
                     "sum >= 95, each +- 2", total >= 95 and off <= 2)

    def balance(self):
        """25 % with the right to borrow all; a neighbour of 50 % comes for the middle third."""
        seconds = 12
        start = self.soon(2)
        a = self.run_prefix(cores=25, policy="balance") + self.work("0.74ms", start, seconds, window_ms=100)
        b = self.run_prefix(cores=50) + self.work("0.74ms", start + int(6e9), 4, warm=0, window_ms=100)
        ra, rb = self.together([a, b])
        per = self.rate("0.74ms") / 10
        shares = [100 * w / per for w in ra[0]["windows"]]
        theirs = [100 * w / per for w in rb[0]["windows"]]
        self.runs.append({"case": "balance", "shares": shares, "neighbour": theirs})
        alone = statistics.mean(shares[10:38])
        back = next((i / 10 for i in range(len(theirs) - 3) if statistics.mean(theirs[i:i + 3]) >= 47), 99.0)
        print("balance: alone %.1f; neighbour has its share after %.1f s" % (alone, back), flush=True)
        self.row("balance: alone", f"{alone:.1f} %", ">= 95", alone >= 95)
        self.row("balance: share back", f"{back:.1f} s", "<= 1", back <= 1)

    def torch(self):
        script = os.path.join(HERE, "mlp.py")
        def rate(prefix):
            return json.loads(subprocess.check_output(prefix + [sys.executable, script], text=True))["rate"]
        try:
            native = rate([])
        except (subprocess.CalledProcessError, OSError):
            print("PyTorch: not here", flush=True)
            return
        limited = rate(self.run_prefix(cores=50))
        share = 100 * limited / native
        self.runs.append({"case": "torch", "native": native, "limited": limited})
        self.row("PyTorch MLP at 50 %", f"{share:.1f} % of {native:.1f} it/s", "50 +- 2", abs(share - 50) <= 2)

    def write(self):
        os.makedirs(os.path.dirname(self.o.out), exist_ok=True)
        with open(self.o.out, "w") as f:
            json.dump({"seed": self.o.seed, "seconds": self.o.seconds, "us": self.us, "rounds": self.rounds,
                       "reference": self.reference, "table": self.rows, "runs": self.runs}, f, indent=1)
        print(f"\n| figure | measured | must | |\n|---|---|---|---|")
        for r in self.rows:
            print(f"| {r['figure']} | {r['value']} | {r['must']} | {'met' if r['met'] else 'MISSED'} |")
        print(f"seed {self.o.seed}; all runs in {self.o.out}", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    build = os.path.join(os.path.dirname(HERE), "build")
    p.add_argument("--vgpu-run", default=os.path.join(build, "vgpu-run"))
    p.add_argument("--library", default=os.path.join(build, "libvgpu-control.so"))
    p.add_argument("--work", default=os.path.join(build, "bench-work"))
    p.add_argument("--cost", default=os.path.join(build, "bench-cost"))
    p.add_argument("--out", default=os.path.join(os.path.dirname(os.path.dirname(HERE)), "build", "bench", "shim.json"))
    p.add_argument("--seed", type=int, default=int(time.time()))
    p.add_argument("--seconds", type=float, default=8)
    p.add_argument("--warm", type=float, default=2, help="seconds before those")
    p.add_argument("--memory", type=int, default=20000, help="MiB, where a memory limit is measured")
    p.add_argument("--scale", type=int, default=1, help="how many times as many pairs of blocks")
    p.add_argument("--nominal", action="store_true", help="the nominal limits instead of the seed's")
    p.add_argument("--timeout", type=float, default=120)
    p.add_argument("--only", default="cost,alone,pairs,four,processes,turns,balance,torch")
    o = p.parse_args()
    bench = Bench(o)
    bench.calibrate()
    bench.references()
    for part in o.only.split(","):
        getattr(bench, part)()
        bench.write()
    bench.references()
    bench.write()
    return 0 if all(r["met"] for r in bench.rows) else 1


if __name__ == "__main__":
    sys.exit(main())
