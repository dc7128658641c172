#!/bin/sh
# The library as the agent mounts it, named by /etc/ld.so.preload, in a mount namespace of its own: every process has it, the
# limits are on a read-only mount, and the environment has no say.
#   container.sh LIBRARY PROGRAM MAKE_LIMITS STATIC_PROGRAM FAKE_DIRECTORY
# Exit 77 where mount namespaces are not to be had; with CI=true a failure.
set -eu
if [ "${INSIDE:-}" != yes ]; then
  unshare -m true 2>/dev/null || {
    echo "NOT RUN IN A MOUNT NAMESPACE: unshare -m is not permitted here" >&2
    [ "${CI:-}" = true ] && exit 1 || exit 77
  }
  dir=$(mktemp -d)
  trap 'rm -rf "$dir"' EXIT
  INSIDE=yes DIR=$dir unshare -m "$0" "$@"
  exit
fi

lib=$1 program=$2 make_limits=$3 static=$4 fake=$5
card=GPU-02000200-0000-0000-0000-000000000000
export LD_LIBRARY_PATH="$fake" CUDA_VISIBLE_DEVICES=0
say() { echo "container.sh: $*" >&2; exit 1; }
mount --make-rprivate /

# a private /etc, so that nothing of this is seen outside
cp -a /etc "$DIR/etc"
rm -rf "$DIR/etc/vgpu-manager" "$DIR/etc/ld.so.preload"
mkdir -p "$DIR/etc/vgpu-manager/driver" "$DIR/etc/vgpu-manager/registry" "$DIR/etc/vgpu-manager/main" "$DIR/box" "$DIR/rw"
cp "$lib" "$DIR/etc/vgpu-manager/driver/libvgpu-control.so"
"$make_limits" "$DIR/box" "$card" 1024
cp "$DIR/box/usage" "$DIR/box/usage.lock" "$DIR/rw/"
mount --bind "$DIR/etc" /etc
mount --bind "$DIR/box" /etc/vgpu-manager/main
mount -o remount,ro,bind /etc/vgpu-manager/main
for file in usage usage.lock; do mount --bind "$DIR/rw/$file" "/etc/vgpu-manager/main/$file"; done

"$program" card >/dev/null || say "without /etc/ld.so.preload there is no limit"
echo /etc/vgpu-manager/driver/libvgpu-control.so >/etc/ld.so.preload
grep -q libvgpu-control.so /proc/self/maps || say "the library is not in every process: this shows nothing"

fresh() { "$make_limits" "$DIR/box" "$card" 1024; cat "$DIR/box/usage" >"$DIR/rw/usage"; }
"$program" memory >/dev/null || say "1024 MiB"
fresh
CUDA_SHIM_DISABLE=1 "$program" memory >/dev/null || say "the environment switches nothing off"
fresh
CUDA_SHIM_CONFIG_DIR=/no/such/directory "$program" memory >/dev/null || say "the environment names no other directory"
fresh
CUDA_MEM_LIMIT=4G CUDA_DEVICE_MEMORY_LIMIT_0=4G "$program" memory >/dev/null || say "it gives no limits either"
fresh
env -i LD_LIBRARY_PATH="$fake" FAKE_GPUS="$FAKE_GPUS" FAKE_GPUS_STATE="$FAKE_GPUS_STATE" "$program" memory >/dev/null || say "nor by being empty"

# all kinds of processes live with it
[ "$(sh -c 'echo out; exit 0')" = out ] || say sh
[ "$(bash -c 'echo $((6 * 7))')" = 42 ] || say bash
[ "$("$static" || :)" = static ] || say "a static program"
[ "$(find /etc/vgpu-manager -maxdepth 0)" = /etc/vgpu-manager ] || say find

# broken, or not the agent's: nothing runs
printf 'X' | dd of="$DIR/box/limits" bs=1 conv=notrunc status=none
"$program" refused >/dev/null 2>"$DIR/log" || say "a corrupt limits"
[ "$(wc -l <"$DIR/log")" = 1 ] || say "one line about it, not: $(cat "$DIR/log")"
CUDA_SHIM_DISABLE=1 "$program" refused >/dev/null 2>&1 || say "and it cannot be switched off"
fresh
mount -o remount,rw,bind /etc/vgpu-manager/main
"$program" refused >/dev/null 2>&1 || say "limits that the tenant could write"
mount -o remount,ro,bind /etc/vgpu-manager/main
mkdir /etc/vgpu-manager/other
mount --bind "$DIR/box" /etc/vgpu-manager/other
mount -o remount,ro,bind /etc/vgpu-manager/other
"$program" refused >/dev/null 2>&1 || say "two limits"
umount /etc/vgpu-manager/other
rmdir /etc/vgpu-manager/other
"$program" memory >/dev/null || say "and again as before"
echo "as told: in a container's mounts"
