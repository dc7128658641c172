#!/usr/bin/env bash
# vgpu-run on the fake driver: what it says to bad arguments, what status it ends with, signals, and the card's leader.
#   vgpu_run.sh VGPU_RUN FAKE_LIBRARIES TENANT PROFILE GPU_PROBE
set -uo pipefail
run=$1 tenant=$3
export LD_LIBRARY_PATH=$2 FAKE_GPUS=$4
work=$(mktemp -d)
export XDG_RUNTIME_DIR=$work
started=()
trap 'for p in "${started[@]}"; do kill -9 "$p" 2>/dev/null; done; wait; rm -rf "$work"' EXIT
checks=0 failures=0

check() { # what, condition as a command
  checks=$((checks + 1))
  local what=$1
  shift
  if ! "$@"; then
    failures=$((failures + 1))
    echo "FAILED: $what" >&2
  fi
}
is() { # status, part of stderr, arguments…: how it ends and what it says
  local status=$1 said=$2
  shift 2
  "$run" "$@" >"$work/out" 2>"$work/err" </dev/null
  local got=$?
  check "$* ends with $status, not $got: $(cat "$work/err")" [ "$got" = "$status" ]
  [ -z "$said" ] || check "$* says \"$said\": $(cat "$work/err")" grep -qF -- "$said" "$work/err" "$work/out"
}
eventually() { # a condition as a command, for at most 20 s
  for _ in $(seq 400); do
    "$@" && return 0
    sleep 0.05
  done
  return 1
}

# ---- arguments
is 0 "usage: vgpu-run" --help
is 125 "--memroy: unknown; nearest: --memory" --memroy 5 true
is 125 "--memory: \"1g\": must be a number of MiB" --memory 1g true
is 125 "--memory: needs a value" --memory
is 125 "--memory: \"40961\": must not be more than the card's 40960 MiB" --memory 40961 true
is 125 "--cores: \"0\": must be a percentage, 1 to 100" --cores=0 true
is 125 "--cores: \"101\"" --cores 101 true
is 125 "--policy: \"fix\": must be fixed, balance or none; nearest: fixed" --policy fix --cores 5 true
is 125 "COMMAND: is missing" --cores 5
is 125 "one of them must be given" -- true
is 125 "--gpu: \"8\": no such card; there are 8" --gpu 8 --cores 5 true
is 125 "--gpu: \"GPU-1\": no such card" --gpu GPU-1 --cores 5 true
is 125 "--gpu: \"x\": must be an index" --gpu x --cores 5 true
is 125 "--library: \"/nowhere.so\": No such file" --library /nowhere.so --cores 5 true
is 125 "--list: takes no value" --list=1
LD_LIBRARY_PATH= is 125 "no NVIDIA driver" --cores 5 true
mkdir -m 755 "$work/open" "$work/open/vgpu-run"
XDG_RUNTIME_DIR=$work/open is 125 "with mode 0700" --cores 5 true

mkdir "$work/mps"
CUDA_MPS_PIPE_DIRECTORY=$work/mps is 125 "--mps: no MPS daemon serves in $work/mps" --mps --cores 25 true
mkdir "$work/mps/control"
export CUDA_MPS_PIPE_DIRECTORY=$work/mps
is 125 "--mps: needs --cores below 100" --mps --memory 5 true
is 125 "--mps: needs --cores below 100" --mps --cores 100 true
is 125 "--mps: needs --cores below 100, and --policy fixed" --mps --cores 25 --policy balance true
is 125 "--mps: takes no value" --mps=1 --cores 5 true
is 125 "--cores: \"1\": with --mps, must be two of the card's 108 multiprocessors" --mps --cores 1 true

# ---- what the command sees, and how it ends
is 3 "" --cores 5 -- sh -c 'exit 3'
is 127 "/nowhere: No such file or directory" --cores 5 /nowhere
is 126 "Permission denied" --cores 5 /etc/passwd
is 137 "" --cores 5 sh -c 'kill -9 $$'
is 0 "GPU-12345678-1234-1234-1234-123456780003" --gpu 3 --cores 5 -- printenv CUDA_VISIBLE_DEVICES
is 0 "libvgpu-control.so" --cores 5 -- printenv LD_PRELOAD
is 0 "/vgpu-run/GPU-12345678-1234-1234-1234-123456780000/" --cores 5 -- printenv CUDA_SHIM_CONFIG_DIR
is 0 "limits load usage usage.lock" --cores 5 -- sh -c 'cd "$CUDA_SHIM_CONFIG_DIR" && echo $(ls | grep -v a)" limits load usage usage.lock"'
is 0 "25 0=1024M" --mps --cores 25 --memory 1024 -- \
  sh -c 'echo "$CUDA_MPS_ACTIVE_THREAD_PERCENTAGE $CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"'
unset CUDA_MPS_PIPE_DIRECTORY
check "nothing is left behind" [ "$(find "$work/vgpu-run" -name limits | wc -l)" = 0 ]

# ---- the library, in a real process on the fake card
cp "$4" "$work/card.gpus"
FAKE_GPUS=$work/card.gpus is 0 '"total_mib": 1024' --memory 1024 -- "$5"
check "it is refused beyond: $(cat "$work/out")" grep -q '"given_mib": 448, "error": 2' "$work/out"
FAKE_GPUS=$work/card.gpus is 0 '"total_mib": 40377' --cores 50 -- "$5"

# ---- a thread of the driver's library must not take away the word that the command has ended
FAKE_GPUS_THREAD=1 timeout 20 "$run" --cores 5 -- sh -c "sleep 0.02; exit 7" </dev/null
got=$?
check "the end of a command is noticed beside a thread of the library's: status $got" [ "$got" = 7 ]

# ---- signals
for signal in TERM HUP USR1 INT; do
  : >"$work/signal"
  env --default-signal=INT "$run" --cores 5 -- sh -c 'trap "echo got >>$0; exit 9" '$signal'; echo ready >>$0; while :; do sleep 0.02; done' "$work/signal" &
  started+=($!)
  eventually grep -q ready "$work/signal"
  kill -$signal $!
  wait $!
  got=$?
  check "the command's status after $signal, not $got" [ "$got" = 9 ]
  check "$signal reached the command" grep -q got "$work/signal"
done

# ---- several on one card
card=$work/vgpu-run/GPU-12345678-1234-1234-1234-123456780005
refunds() { grep -c refund "$work/slow" 2>/dev/null; }
more_refunds() { [ "$(refunds)" -gt "$1" ]; }
leader_is() { [ "$(cat "$card/leader" 2>/dev/null)" = "$1" ]; }
"$run" --gpu 5 --cores 50 -- "$tenant" brief 60 &
first=$! && started+=($first)
eventually leader_is $first
check "the first one leads" leader_is $first
"$run" --gpu 5 --cores 25 --policy balance --memory 2048 -- "$tenant" slow 60 >"$work/slow" &
second=$! && started+=($second)
"$run" --gpu 5 --cores 25 -- "$tenant" asleep 60 >"$work/asleep" &
third=$! && started+=($third)
check "a long slice is refunded for a neighbour's turns" eventually more_refunds 3
check "a sleeper is woken, and told of two others" eventually grep -q "woken, others 2" "$work/asleep"
"$run" --list >"$work/list"
check "list shows the first" grep -q "^ *$first *- *50 *fixed *.*tenant" "$work/list"
check "list shows the second" grep -q "^ *$second *2048 *25 *balance" "$work/list"
kill -9 $first
wait $first 2>/dev/null
check "another one leads" eventually sh -c '[ "$(cat "$1/leader")" = "$2" ] || [ "$(cat "$1/leader")" = "$3" ]' sh "$card" $second $third
before=$(refunds)
check "and goes on refunding for the command that the first has left" eventually more_refunds $((before + 3))
"$run" --list >"$work/list"
check "the command that was left is still there" grep -q "^ *$first " "$work/list"
leader=$(cat "$card/leader")
[ "$leader" = "$second" ] && other=$third || other=$second
kill -TSTP "$leader"
check "one that is stopped leaves the lead to the other" eventually leader_is $other
kill -CONT "$leader"
before=$(refunds)
check "and its command goes on afterwards" eventually more_refunds $((before + 3))
left=$(for p in /proc/[0-9]*; do grep -zqs "CUDA_SHIM_CONFIG_DIR=$card/$first-" "$p/environ" && echo "${p#/proc/}"; done)
check "one process is left of the first" [ "$(wc -w <<<"$left")" = 1 ]
kill -9 $left
kill $second $third
wait $second $third
gone() { [ "$(find "$card" -name limits | wc -l)" = 0 ]; }
"$run" --gpu 5 --cores 5 true
check "what the dead left is removed" gone

echo "$checks checks, $failures failed"
[ "$failures" = 0 ]
