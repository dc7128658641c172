#!/bin/sh
# The tests on a card that need no framework, on the fake card: that they can pass. And that one can fail: with the limit not there.
#   on_fake.sh BUILD PROFILE
set -eu
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$2" "$work/card.gpus"
export FAKE_GPUS="$work/card.gpus" LD_LIBRARY_PATH="$1/fake" XDG_RUNTIME_DIR="$work"
names=memory-linear,memory-async,memory-vmm,memory-managed,memory-processes,fork-before,fork-after
"$here/run_gpu_tests.sh" "$1" --only "$names" --out "$work/all.json"
grep -q '"passed": 7, "failed": 0, "skipped": 0' "$work/all.json"
PATH="$(readlink -f "$here/../fake/mps"):$PATH" # its nvidia-cuda-mps-control
for name in accuracy mps; do
  for again in 1 2 3; do # a busy machine may let it starve
    "$here/run_gpu_tests.sh" "$1" --only "$name" > "$work/out" && break
    cat "$work/out"
    [ "$again" != 3 ] || exit 1
  done
  grep "^PASS $name " "$work/out"
done
mkdir "$work/idle"
printf '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift\nexec "$@"\n' > "$work/idle/vgpu-run"
chmod +x "$work/idle/vgpu-run"
ln -s "$1/libvgpu-control.so" "$1/bench-work" "$work/idle"
if "$here/run_gpu_tests.sh" "$work/idle" --only "$names" > "$work/out"; then cat "$work/out"; exit 1; fi
for name in memory-linear memory-async memory-vmm memory-managed memory-processes fork-before; do
  grep -q "^FAIL $name " "$work/out" || { cat "$work/out"; echo "$name passes without a limit"; exit 1; }
done
echo "without a limit they fail"
