#!/bin/sh
# Programs behave the same with the library in them.  preload.sh LIBRARY STATIC_PROGRAM
set -u
lib=$1 static=$2
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
bad=0 count=0

grep -q libvgpu-control.so /proc/self/maps && { echo "the library is loaded already" >&2; exit 1; }
LD_PRELOAD=$lib grep -q libvgpu-control.so /proc/self/maps || { echo "the library was not loaded: this test shows nothing" >&2; exit 1; }

same() {
  count=$((count + 1))
  "$@" >"$dir/out1" 2>"$dir/err1" </dev/null; rc1=$?
  LD_PRELOAD=$lib "$@" >"$dir/out2" 2>"$dir/err2" </dev/null; rc2=$?
  if [ $rc1 != $rc2 ] || ! cmp -s "$dir/out1" "$dir/out2" || ! cmp -s "$dir/err1" "$dir/err2"; then
    echo "differs ($rc1, $rc2): $*" >&2
    diff "$dir/out1" "$dir/out2" >&2
    diff "$dir/err1" "$dir/err2" >&2
    bad=1
  fi
}

same sh -c 'echo out; echo err >&2; exit 7'
same bash -c 'f() { echo $((6 * 7)); }; f | tr 4 5; (exit 3)'
same bash -c 'sleep 0.01 & wait $!; kill -TERM $$'
same env -i PATH="$PATH" ls /
same cat /no/such/file
same sort /proc/cpuinfo
same awk 'BEGIN { for (i = 0; i < 1000; i++) s += i; print s }'
same "$static"
for python in /usr/bin/python3; do
  [ -x "$python" ] || continue
  same "$python" -c 'import json, socket, ssl, subprocess, threading; print(json.dumps(sorted(threading.__all__)[:3]))'
  same "$python" -c 'import os; pid = os.fork(); print(pid == 0) if pid == 0 else os.waitpid(pid, 0)'
done
echo "$count programs"
exit $bad
