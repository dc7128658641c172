#!/bin/sh
# A tenant of long kernels beside one of shorter ones, both under vgpu-run, which refunds: each has its limit by the card's own ledger.
#   refunds.sh BUILD
set -eu
build=$1
work=$(mktemp -d)
pids=
trap 'for p in $pids; do kill -TERM "$p" 2> /dev/null || true; done; wait; rm -rf "$work"' EXIT
export XDG_RUNTIME_DIR="$work" LD_LIBRARY_PATH="$build/fake" FAKE_GPUS_SWITCH_US=170

tenant() { # PERCENT KERNEL_NS
  "$build/vgpu-run" --library "$build/libvgpu-control.so" --cores "$1" -- "$build/pace-tenant" "$2" 1 1 &
  pids="$pids $!"
}
busy() { # busy_ns of the process that runs fewest kernels a second, then of the other
  "$build/fake-gpu" --state "$FAKE_GPUS_STATE" processes | awk '$4 == "pace-tenant" { print $7, $8 }' | sort -n -k2 | cut -d' ' -f1 | tr '\n' ' '
}
tenant 25 7300000
tenant 50 740000
sleep 2
for look in 1 2 3; do # again only where a busy machine let one starve
  before=$(busy) from=$(date +%s%N)
  sleep 3
  after=$(busy) past=$(($(date +%s%N) - from))
  shares=$(echo "$before $after $past" | awk 'NF == 5 { printf "%.2f %.2f", 100 * ($3 - $1) / $5, 100 * ($4 - $2) / $5 }')
  echo "25 % of 7.3 ms and 50 % of 0.74 ms: $shares"
  verdict=$(echo "$shares" | awk 'NF != 2 { print "broken"; exit }
    $1 > 27.5 || $2 > 52.5 { print "above"; exit } $1 < 22.5 || $2 < 47.5 { print "below"; exit } { print "kept" }')
  [ "$verdict" = below ] || break
done
[ "$verdict" = kept ] || { echo "limits are not kept: $verdict" >&2; exit 1; }
