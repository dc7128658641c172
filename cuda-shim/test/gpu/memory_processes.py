"""--memory 3072: two processes have it together, and what one that was killed had is there again."""
import os, signal, subprocess, sys
from common import MIB, check, figures, within
from driver import OUT_OF_MEMORY, Card

if sys.argv[1:] == ["other"]:
    print(len(Card().take(most=16)[0]), flush=True)
    sys.stdin.read()
    sys.exit(0)

card = Card()
before = card.memory_info()[0]
other = subprocess.Popen([sys.executable, os.path.abspath(__file__), "other"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
theirs = int(other.stdout.readline())
check(theirs > 0, "the other process got nothing")
beside = card.memory_info()[0]
within((before - beside) / MIB, 64 * theirs, 64 * theirs + 1024, "MiB that the other one's memory and context take")
mine, error = card.take()
check(error == OUT_OF_MEMORY, f"refused with {error}")
within(64 * (len(mine) + theirs), 64, 3072 - 128, "MiB that both have")
other.send_signal(signal.SIGKILL)
other.wait()
more, error = card.take()
check(error == OUT_OF_MEMORY and len(more) >= theirs, f"after it was killed {len(more)} pieces more, it had {theirs}")
figures(other_mib=64 * theirs, own_mib=64 * len(mine), after_kill_mib=64 * (len(mine) + len(more)))
