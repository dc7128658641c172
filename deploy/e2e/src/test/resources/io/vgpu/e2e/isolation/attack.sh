# Every attack on a container's own limits, one line each: ATTACK <name> stopped, or succeeded, and what was seen.
# $DIR: where limits, load, usage and usage.lock are. TOTAL: what a program under the limit is told that it has, in MiB.
TOTAL=1024
# where the driver is and which cards it shows: that is not the tenant's to choose where devices are nodes
driver=("LD_LIBRARY_PATH=$LD_LIBRARY_PATH" "FAKE_GPUS=$FAKE_GPUS" "NVIDIA_VISIBLE_DEVICES=$NVIDIA_VISIBLE_DEVICES")

told() { "$@" gpu-probe 2>&1 | sed -n 's/.*"total_mib": \([0-9]*\).*/\1/p'; }
say() { echo "ATTACK $1 $2 ${3:-}"; }
# a program that is told of another total than its limit has opted out; one that cannot compute has gained nothing
opts_out() {
  local name=$1 total; shift
  total=$(told "$@")
  if [ "${total:-$TOTAL}" = "$TOTAL" ]; then say "$name" stopped "${total:-refused}"; else say "$name" succeeded "$total MiB"; fi
}
# the rest are words that must end with 0 to have succeeded
does() {
  local name=$1 why; shift
  if why=$("$@" 2>&1); then say "$name" succeeded; else say "$name" stopped "$(echo "$why" | head -1 | tr -d '\n')"; fi
}
write_at() { dd if=/dev/urandom of="$1" bs=8 count=1 seek=16 conv=notrunc; }
replace() { : >/tmp/another && mv -f /tmp/another "$1"; }
link_for() { rm -f "$1" && ln -s /etc/hostname "$1"; }
fifo_for() { rm -f "$1" && mkfifo "$1"; }
sees_host() { grep -qE 'kubelet|containerd' /proc/[0-9]*/comm; }

# before this container has computed at all: whoever is shown is somebody else
does 'nvml-others' env LD_PRELOAD= attack others
does 'proc-others' sees_host

echo "LIMIT $(told env)"
opts_out 'LD_PRELOAD=' env LD_PRELOAD=
opts_out 'LD_PRELOAD-of-own' env LD_PRELOAD=/nothing.so
opts_out 'DISABLE_VGPU_CONTROL' env DISABLE_VGPU_CONTROL=true
opts_out 'CUDA_SHIM_DISABLE' env CUDA_SHIM_DISABLE=1
opts_out 'CUDA_SHIM_CONFIG_DIR' env CUDA_SHIM_CONFIG_DIR=
opts_out 'CUDA_MEM_OVERSOLD' env CUDA_MEM_OVERSOLD=true
opts_out 'CUDA_MEM_LIMIT' env -u CUDA_SHIM_CONFIG_DIR CUDA_MEM_LIMIT=30g CUDA_MEM_LIMIT_0=30g
opts_out 'clean-environment' env -i "PATH=$PATH" "${driver[@]}"
opts_out 'clean-environment-of-a-shell' env -i "PATH=$PATH" "${driver[@]}" bash -c '"$@"' sh

does 'mount-limits' attack-static mounts "$DIR/limits"
does 'mount-usage' attack-static mounts "$DIR/usage"
does 'mount-preload' attack-static mounts /etc/ld.so.preload

# until the container ends
attack hold 600 "$DIR/usage" "$DIR/usage.lock" &

# from here on things are destroyed, in the control too
does 'usage-grows' attack grow "$DIR/usage" 300
does 'lock-grows' attack grow "$DIR/usage.lock" 300
does 'usage-is-a-link' link_for "$DIR/usage"
does 'usage-is-a-fifo' fifo_for "$DIR/usage"
does 'lock-is-a-fifo' fifo_for "$DIR/usage.lock"
for file in limits load; do
  does "$file-is-written" write_at "$DIR/$file"
  does "$file-is-open-to-all" chmod 0777 "$DIR/$file"
  does "$file-is-replaced" replace "$DIR/$file"
  does "$file-is-removed" rm "$DIR/$file"
done
does 'preload-is-emptied' bash -c ': >/etc/ld.so.preload'
[ -p "$DIR/usage" ] || head -c 100000 /dev/urandom >"$DIR/usage"
[ -p "$DIR/usage.lock" ] || : >"$DIR/usage.lock"

# a loader that looks for its list elsewhere: no library of ours is in what it starts
sed 's#/etc/ld.so.preload#/etc/ld.so.nothing#' "$(readlink -f /lib64/ld-linux-x86-64.so.2)" >/tmp/loader && chmod 0755 /tmp/loader
own_loader() { env -u LD_PRELOAD /tmp/loader --library-path "$LD_LIBRARY_PATH" "$@"; }
total=$(own_loader /usr/bin/gpu-probe | sed -n 's/.*"total_mib": \([0-9]*\).*/\1/p')
if [ "$total" = "$TOTAL" ]; then say own-loader stopped; else say own-loader succeeded "$total MiB"; fi
say end stopped
own_loader /usr/bin/gpu-work --rounds 1000000 --seconds 600
