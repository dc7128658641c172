"""The machine's own nvidia-smi with --memory 1024: shows 1024 MiB, ends with 0, and no process of others."""
import os, shutil, subprocess, sys
from common import BINARIES, check, figures, skip, under
from driver import Card

if sys.argv[1:] == ["neighbour"]:
    Card().take(most=2)
    print("ready", flush=True)
    sys.stdin.read()
    sys.exit(0)

if shutil.which("nvidia-smi") is None:
    skip("no nvidia-smi")


def smi(*arguments):
    done = subprocess.run(under(["--memory", "1024"], ["nvidia-smi", *arguments]), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=40)
    check(done.returncode == 0, f"nvidia-smi {' '.join(arguments)}: status {done.returncode}: {done.stdout}")
    return done.stdout


neighbour = subprocess.Popen([sys.executable, os.path.abspath(__file__), "neighbour"], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
try:
    check(neighbour.stdout.readline() == "ready\n", "the neighbour runs")
    table = smi()
    check("1024MiB" in table, f"the table does not show 1024 MiB:\n{table}")
    total, used, free = (int(x) for x in smi("--query-gpu=memory.total,memory.used,memory.free",
                                             "--format=csv,noheader,nounits", "-i", "0").strip().split(","))
    check(total == 1024, f"memory.total {total}")
    check(used <= 64 and free <= 1024, f"used {used}, free {free} MiB, and nothing of ours runs")
    processes = smi("--query-compute-apps=pid,used_memory", "--format=csv,noheader").split("\n")
    foreign = [p for p in processes if p.strip() and p.split(",")[0].strip().isdigit()]
    check(not foreign, f"processes of others: {foreign}")
    listed = smi("-L")
finally:
    neighbour.stdin.close()
    neighbour.wait(timeout=10)
figures(total_mib=total, used_mib=used, free_mib=free, foreign=len(foreign), card=listed.strip().splitlines()[0][:40])
