#!/bin/sh
# The table of covered functions, from hooks.def: printed, or compared with a page.   coverage.sh [PAGE]
set -eu
rows=$(cd "$(dirname "$0")/.." && pwd)/src/hooks.def
page() {
  cat <<'TEXT'
# Which CUDA and NVML functions the library covers

Made from `cuda-shim/src/hooks.def` by `cuda-shim/checks/coverage.sh`; the test `coverage-page` compares. Every signature is
compared with NVIDIA's headers of CUDA 11.8, 12.4, 12.9, 13.0 and 13.5. A function that is in neither list reaches the driver
as if the library were not there.

Stream 0 means the blocking stream for functions marked *legacy*, the thread's own for those marked *per thread*.

TEXT
  awk '
    /^ \*   [A-Z]+ +[a-z0-9(]/ { class = $2; $1 = $2 = ""; sub(/^ +/, ""); said[class] = $0 }
    function flavor(f) { return f == "LEGACY" ? "legacy" : f == "THREAD" ? "per thread" : "" }
    function open(title) { print "## " title "\n" }
    /^\/\* ---- / { title = $0; sub(/^\/\* ---- /, "", title); sub(/ \*\/.*/, "", title); fresh = 1; next }
    function head(kind) {
      if (!fresh) return
      print (any ? "\n" : "") "## " toupper(substr(title, 1, 1)) substr(title, 2) "\n"
      if (kind == "CU") print "| Function | Asked for as | Since | Stream 0 | What the library does |\n|---|---|---|---|---|"
      if (kind == "NV") print "| Function | What the library does |\n|---|---|"
      if (kind == "PASS") print "| Function | Why it is left alone |\n|---|---|"
      fresh = 0; any = 1
    }
    /^CU\(/ {
      head("CU"); split(substr($0, 4), f, ", ")
      since = int(f[3] / 1000) "." int(f[3] % 1000 / 10)
      if (!(f[5] in said)) { print "no class " f[5] > "/dev/stderr"; exit 1 }
      print "| `" f[1] "` | `" f[2] "` | " since " | " flavor(f[4]) " | " said[f[5]] " |"; n++
    }
    /^NV\(/ {
      head("NV"); split(substr($0, 4), f, ", ")
      if (!(f[2] in said)) { print "no class " f[2] > "/dev/stderr"; exit 1 }
      print "| `" f[1] "` | " said[f[2]] " |"; n++
    }
    /^PASS\(/ { head("PASS"); line = substr($0, 6); sub(/\)$/, "", line); i = index(line, ", "); print "| `" substr(line, 1, i - 1) "` | " substr(line, i + 2) " |"; passed++ }
    END { print "\n" n " functions covered, " passed " named and left alone." }
  ' "$rows"
}
if [ $# = 0 ]; then
  page
  exit
fi
page | diff - "$1" >&2 || { echo "$1 is not what hooks.def says: cuda-shim/checks/coverage.sh >$1" >&2; exit 1; }
[ "$(grep -c '^| `' "$1")" -gt 150 ] || { echo "$1 is too short: this check reads nothing" >&2; exit 1; }
