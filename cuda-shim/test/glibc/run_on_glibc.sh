#!/usr/bin/env bash
# The library and vgpu-run, as built here, on another glibc: a small root of a Debian release that has it, everything in it (shell,
# tools, Python) on that glibc, and in it the tests that are about loading, forking and looking names up.
#   run_on_glibc.sh VERSION BUILD_DIRECTORY [CTEST_NAMES]
# The packages come once by apt-get, from the mirror that the machine uses, into ~/.cache/vgpu-manager/glibc-VERSION (or GLIBC_CACHE)
# and are installed nowhere. Exit 77 where they cannot be had for want of network, or namespaces; with CI=true a failure.
set -euo pipefail
version=$1 build=$(cd "$2" && pwd)
tests=${3:-control-preload control-lookup control-limited control-storm shim-process vgpu-run}
checkout=$(cd "$(dirname "$0")/../../.." && pwd)
cache=${GLIBC_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/vgpu-manager/glibc-$version}
packages="libc6 libc-bin libgcc-s1 bash dash coreutils diffutils findutils grep sed mawk procps util-linux python3 python3-minimal"

skip() {
  echo "skipped: glibc $version: $*" >&2
  [ "${CI:-}" = true ] && exit 1
  exit 77
}
case $version in
  2.36) release=bookworm ;;
  2.41) release=trixie ;;
  *) echo "glibc $version: not known which Debian release has it; known: 2.36, 2.41" >&2; exit 2 ;;
esac

# ---- the root
fetch() {
  command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || skip "no apt-get here"
  local mirror apt
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | sed -n 1p)
  [ -n "$mirror" ] || skip "apt-get uses no Debian mirror here"
  work=$(mktemp -d "$cache.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$work"/{lists/partial,archives/partial,root/usr/{bin,sbin,lib,lib64}}
  : >"$work/status"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $release main" >"$work/sources.list"
  apt=(-qq -o Dir::State::lists="$work/lists" -o Dir::State::status="$work/status" -o Dir::Cache="$work" -o Dir::Etc::sourcelist="$work/sources.list"
    -o Dir::Etc::sourceparts=- -o APT::Sandbox::User= -o Acquire::Languages=none -o APT::Install-Recommends=false -o Acquire::Retries=1)
  apt-get "${apt[@]}" -o APT::Update::Error-Mode=any update 2>"$work/said" || skip "$(tail -1 "$work/said")"
  # shellcheck disable=SC2086 # a list of package names
  apt-get "${apt[@]}" --yes --download-only install $packages >"$work/said" 2>&1 || { cat "$work/said" >&2; exit 1; }
  for d in bin sbin lib lib64; do ln -s "usr/$d" "$work/root/$d"; done
  for deb in "$work"/archives/*.deb; do dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$work/root" --keep-directory-symlink --no-same-owner; done
  [ -e "$work/root/usr/bin/sh" ] || ln -s dash "$work/root/usr/bin/sh"
  ln -sf mawk "$work/root/usr/bin/awk"
  mkdir -p "$work"/root/{etc,proc,dev,sys,tmp,run,root}
  echo "root:x:0:0:root:/root:/bin/bash" >"$work/root/etc/passwd"
  rm -rf "$work/lists" "$work/archives"
  mv -T "$work/root" "$cache" 2>/dev/null || [ -d "$cache" ] # another one was faster
}
mkdir -p "$(dirname "$cache")"
[ -d "$cache" ] || (fetch)

# ---- in it
names=$(echo "$tests" | tr ' ' '|')
lines=$(ctest --test-dir "$build" --show-only=json-v1 -R "^($names)\$" | python3 -c '
import json, shlex, sys
for test in json.load(sys.stdin)["tests"]:
    print(test["name"] + "\t" + shlex.join(test["command"]))')
wanted=$(echo "$tests" | wc -w)
[ "$(wc -l <<<"$lines")" = "$wanted" ] || { echo "not all of these are tests of $build: $tests" >&2; exit 1; }

way=(unshare --mount)
[ "$(id -u)" = 0 ] || way=(unshare --user --map-root-user --mount)
"${way[@]}" true 2>/dev/null || skip "no mount namespaces here"
export cache build checkout lines version wanted
exec "${way[@]}" bash -euo pipefail -c '
  mount --bind "$cache" "$cache" && cd "$cache"
  for d in proc dev sys; do mount --rbind "/$d" "$cache/$d"; done
  mount -t tmpfs -o mode=1777 tmpfs "$cache/tmp"
  mount -t tmpfs tmpfs "$cache/root"
  for d in "$checkout" "$build"; do # they lie where they lie outside
    [ ! -e "$cache$d/." ] || continue
    top=$cache/$(echo "$d" | cut -d/ -f2)
    [ -d "$top" ] || mkdir "$top"
    mountpoint -q "$top" || mount -t tmpfs tmpfs "$top"
    mkdir -p "$cache$d"
    mount --bind "$d" "$cache$d"
  done
  ran=$(chroot "$cache" /bin/bash -c "ldd --version" | sed -n 1p)
  case $ran in *" $version") ;; *) echo "the root has $ran, not $version" >&2; exit 1 ;; esac
  failed=0
  while IFS=$(printf "\t") read -r name command; do
    if chroot "$cache" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root TMPDIR=/tmp /bin/bash -c "cd $build && $command" >"$cache/tmp/said" 2>&1 </dev/null; then
      echo "ok     $name"
    else
      echo "FAILED $name" >&2
      cat "$cache/tmp/said" >&2
      failed=1
    fi
  done <<<"$lines"
  [ $failed = 0 ] && echo "$ran: $wanted tests passed"
'
