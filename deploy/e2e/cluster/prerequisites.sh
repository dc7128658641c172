#!/usr/bin/env bash
# What build and cluster need of the machine beside a JDK (.ci/find-jdk) and Go (.ci/find-go): Linux, root, some Debian packages.
# Installs the packages that are missing where it can (root, apt-get), else ends with the command that installs them. Quiet when
# nothing is missing.
#
#   prerequisites.sh            check, and install what is missing
#   prerequisites.sh --check    check only
set -euo pipefail
mode=${1:-}
fail() { echo "cluster: $*" >&2; exit 1; }

[ "$(uname -s)" = Linux ] || fail "the cluster runs on Linux only, this is $(uname -s)"

# command, Debian package that brings it
needs="ip:iproute2 nsenter:util-linux setsid:util-linux iptables:iptables conntrack:conntrack busybox:busybox-static
gcc:gcc g++:g++ sysctl:procps pkg-config:pkg-config openssl:openssl ldd:libc-bin mount:mount cmake:cmake make:make mvn:maven"
# make test checks the C code's format, and builds and runs the library for the other processor
[ "$mode" = --build ] || needs="$needs clang-format:clang-format aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu
aarch64-linux-gnu-g++:g++-aarch64-linux-gnu qemu-aarch64:qemu-user"
missing=
want() { case " $missing " in *" $1 "*) ;; *) missing="$missing $1" ;; esac; }
PATH=$PATH:/usr/sbin:/sbin
for need in $needs; do
  command -v "${need%%:*}" >/dev/null || want "${need##*:}"
done
# runc is built with seccomp (containerd gives every sandbox a profile); images hold a static busybox and a static pause
pkg-config --exists libseccomp 2>/dev/null || { want libseccomp-dev; want libseccomp2; }
[ -n "$(find /usr/lib /usr/lib64 -maxdepth 2 -name libc.a -print -quit 2>/dev/null)" ] || want libc6-dev
if command -v busybox >/dev/null && ldd "$(command -v busybox)" >/dev/null 2>&1; then want busybox-static; fi

if [ -n "$missing" ]; then
  # shellcheck disable=SC2086 # a list of package names
  set -- $missing
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && [ "$mode" != --check ]; then
    echo "cluster: installing $*" >&2
    export DEBIAN_FRONTEND=noninteractive
    apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1 || {
      apt-get update -qq >&2
      apt-get install -y -qq --no-install-recommends "$@" >/dev/null
    }
  else
    fail "missing packages; install them with: sudo apt-get install -y --no-install-recommends $*"
  fi
fi

# --build: only what compiling needs, which no one needs to be root for
[ "$mode" = --build ] || [ "$(id -u)" = 0 ] || fail "the cluster needs root (network namespace, mounts, cgroups): run make as root or with sudo -E"
