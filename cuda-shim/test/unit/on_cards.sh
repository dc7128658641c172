#!/bin/sh
# Runs a test on fake cards of its own: two small ones, their shared file in a fresh directory.  on_cards.sh NAME PROGRAM…
set -eu
name=$1
shift
directory=$(mktemp -d "${TMPDIR:-/tmp}/cards-$name.XXXXXX")
trap 'rm -rf "$directory"' EXIT
cat > "$directory/gpus" <<'EOF'
system driver=580.159.04 nvml=13.580.159.04 cuda=13000
device 0 name="NVIDIA H200" uuid=GPU-02000200-0000-0000-0000-000000000000 pci=00000000:19:00.0 memory=143771MiB reserved=616MiB cc=9.0 cores=16896
device 1 name="NVIDIA H200" uuid=GPU-02000200-0000-0000-0000-000000000001 pci=00000000:3B:00.0 memory=143771MiB reserved=616MiB cc=9.0 cores=16896
EOF
unset CUDA_VISIBLE_DEVICES NVIDIA_VISIBLE_DEVICES FAKE_GPUS_SLICE_US FAKE_GPUS_SWITCH_US
FAKE_GPUS="$directory/gpus" FAKE_GPUS_STATE="$directory/state" "$@"
