#!/bin/sh
# The tests that need a GPU. Works from the built programs alone, without cmake:   run_gpu_tests.sh FOLDER [--only NAMES] [--out FILE]
command -v python3 > /dev/null || { echo "skipped: no python3"; exit 77; }
exec python3 "$(dirname "$(readlink -f "$0")")/gpu_tests.py" "$@"
