"""What the tests on a card share: how they end, and how they put a program under limits. Standard library only."""
import json, os, subprocess, sys

SKIPPED = 77
BINARIES = os.environ.get("VGPU_BINARIES", "")
MIB = 1 << 20


def skip(why):
    print(f"skipped: {why}", flush=True)
    sys.exit(SKIPPED)


def check(holds, what):
    if not holds:
        print(f"FAILED: {what}", flush=True)
        sys.exit(1)


def figures(**values):
    """The last line of a test that passed."""
    print(json.dumps(values), flush=True)


def within(value, low, high, what):
    check(low <= value <= high, f"{what}: {value}, must be {low} to {high}")


def under(limits, command):
    """The words that run a command under limits; none: the command as it is."""
    return [os.path.join(BINARIES, "vgpu-run"), *limits, "--", *command] if limits else list(command)


def json_of(words, timeout=50, env=None):
    """Runs words and returns the last JSON line that they print."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=timeout, env=env)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode == SKIPPED:
        skip(" ".join((done.stdout + done.stderr).split())[-200:].removeprefix("skipped: "))
    check(done.returncode == 0 and lines,
          f"{' '.join(words)}: status {done.returncode}: {(done.stdout + done.stderr)[-2000:].strip()}")
    return json.loads(lines[-1])


def myself(limits, *arguments, timeout=50, env=None):
    """Runs the test's own file again, under limits."""
    return json_of(under(limits, [sys.executable, os.path.abspath(sys.argv[0]), *arguments]), timeout, env)
