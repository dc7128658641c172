#!/usr/bin/env bash
# Builds the cluster's binaries from Go modules into the user's cache folder, once per version.
#
# The folder's name carries a hash of everything that decides the binaries (this script, every go.mod and go.sum, the Go
# version), so that a version change builds anew and an unchanged one never does. Each command is built into a staging file
# and renamed: an interrupted build goes on where it stopped.
#
#   build-binaries.sh           build what is missing, print the folder
#   build-binaries.sh --where   print the folder only
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${VGPU_CLUSTER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/vgpu-manager/cluster}

version_of() { # module, directory
  sed -n "s#^\(require \)\{0,1\}[[:space:]]*$1 \(v[0-9][^ ]*\).*#\2#p" "$here/modules/$2/go.mod" | head -n 1
}
kubernetes=$(version_of k8s.io/kubernetes kubernetes)
etcd=$(version_of go.etcd.io/etcd/server/v3 etcd)
containerd=$(version_of github.com/containerd/containerd/v2 containerd)
runc=$(version_of github.com/opencontainers/runc runc)
cni=$(version_of github.com/containernetworking/plugins cni)
key=$(cd "$here" && cat build-binaries.sh modules/*/go.mod modules/*/go.sum | sha256sum | cut -c1-12)
bin="$cache/k8s-$kubernetes-containerd-$containerd-$key"
if [ "${1:-}" = --where ]; then echo "$bin"; exit 0; fi
[ -f "$bin/.complete" ] && { echo "$bin"; exit 0; }

command -v go >/dev/null || {
  echo "building the cluster needs Go 1.26 or newer: install it from https://go.dev/dl and put go on PATH" >&2; exit 1; }
mkdir -p "$bin/cni"
exec 9>"$bin/.lock"
flock 9 # two builds at once would only take the other's cores
[ -f "$bin/.complete" ] && { echo "$bin"; exit 0; }

started=$SECONDS
step=0
steps=14
build() { # directory, output (relative to bin), package, cgo, extra go flags...
  local dir=$1 out=$2 package=$3 cgo=$4 began=$SECONDS
  shift 4
  step=$((step + 1))
  if [ -x "$bin/$out" ]; then return; fi
  printf '  [%2d/%d] %-26s' "$step" "$steps" "$out" >&2
  (cd "$here/modules/$dir" && CGO_ENABLED=$cgo GOFLAGS='-buildvcs=false -mod=readonly' GOTOOLCHAIN=local \
    go build -trimpath "$@" -o "$bin/$out.part" "$package")
  mv "$bin/$out.part" "$bin/$out"
  printf '%4d s   (%d s in all)\n' $((SECONDS - began)) $((SECONDS - started)) >&2
}

echo "building the cluster's binaries once, into $bin (about 12 CPU minutes)" >&2
# Without these the cluster runs but calls itself v0.0.0-master and kubectl refuses to parse the server's version.
minor=${kubernetes#v1.}; minor=${minor%%.*}
ld="-s -w"
for p in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
  ld="$ld -X $p.gitVersion=$kubernetes -X $p.gitMajor=1 -X $p.gitMinor=$minor -X $p.gitTreeState=clean"
  ld="$ld -X $p.gitCommit=0000000000000000000000000000000000000000 -X $p.buildDate=2026-01-01T00:00:00Z"
done
for c in kube-apiserver kube-scheduler kube-controller-manager kubelet kubectl; do
  build kubernetes "$c" "k8s.io/kubernetes/cmd/$c" 0 -ldflags "$ld"
done
build etcd etcd go.etcd.io/etcd/server/v3 0 -ldflags "-s -w"
for c in containerd containerd-shim-runc-v2 ctr; do
  build containerd "$c" "github.com/containerd/containerd/v2/cmd/$c" 0 \
    -ldflags "-s -w -X github.com/containerd/containerd/v2/version.Version=$containerd"
done
# containerd gives every sandbox a seccomp profile; a runc without the tag refuses it.
build runc runc github.com/opencontainers/runc 1 -tags seccomp -ldflags "-s -w"
for c in main/bridge main/loopback ipam/host-local meta/portmap; do
  build cni "cni/$(basename "$c")" "github.com/containernetworking/plugins/plugins/$c" 0 -ldflags "-s -w"
done
cat >"$bin/versions" <<TXT
kubernetes $kubernetes
etcd $etcd
containerd $containerd
runc $runc
cni $cni
TXT
touch "$bin/.complete"
echo "built in $((SECONDS - started)) s" >&2
echo "$bin"
