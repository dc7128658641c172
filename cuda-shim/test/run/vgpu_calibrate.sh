#!/usr/bin/env bash
# vgpu-calibrate on the fake card: refuses nonsense, ends with a line for gpu_model.def, and without a driver says so.
#   vgpu_calibrate.sh VGPU_CALIBRATE FAKE_LIBRARIES PROFILE
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$3" "$work/card.gpus"
export FAKE_GPUS=$work/card.gpus FAKE_GPUS_SWITCH_US=200
LD_LIBRARY_PATH=$2 "$1" 5 2>"$work/err" && exit 1
grep -q "10000 to 500000" "$work/err"
LD_LIBRARY_PATH=$2 "$1" 10000 | tee "$work/out"
grep -qE '^GPU\("NVIDIA H200", [0-9]+, [0-9]+, [0-9]+, [0-9]+, [0-9]+\)$' "$work/out"
status=0
env -u LD_LIBRARY_PATH "$1" 2>"$work/err" >&2 || status=$?
[ "$status" = 0 ] || { [ "$status" = 77 ] && grep -q "no GPU driver" "$work/err"; } # a machine may have a card
