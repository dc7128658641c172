#!/bin/sh
# A library that is loaded into every process does nothing by being loaded.  guest.sh LIBRARY
set -eu
lib=$1
export LC_ALL=C
bad=0
refuse() { echo "$lib: $1" >&2; bad=1; }

dynamic=$(readelf -dW "$lib")
echo "$dynamic" | grep -q 'SONAME.*libvgpu-control\.so' || refuse "no dynamic section with its name: this check reads nothing"
for tag in INIT INIT_ARRAY FINI FINI_ARRAY PREINIT_ARRAY; do
  if echo "$dynamic" | grep -q "($tag)"; then refuse "has $tag: something runs when it is loaded or unloaded"; fi
done
if echo "$dynamic" | grep -E '\((NEEDED|RPATH|RUNPATH)\)' | grep -vq '(NEEDED).*\[libc\.so\.6\]'; then refuse "needs other libraries than libc"; fi
if echo "$dynamic" | grep -q 'TEXTREL'; then refuse "has text relocations"; fi
echo "$dynamic" | grep -q 'FLAGS.*BIND_NOW' || refuse "is not bound at once"
echo "$dynamic" | grep -q 'FLAGS_1.*NODELETE' || refuse "can be unloaded"

# of libc it wants two names that every libc has had from the beginning, so that it loads everywhere and costs nothing
case $(readelf -hW "$lib" | sed -n 's/.*Machine: *//p') in
  *X86-64*) baseline=GLIBC_2.2.5 ;;
  *AArch64*) baseline=GLIBC_2.17 ;;
  *) refuse "is for a processor without a baseline" && baseline=none ;;
esac
undefined=$(nm -D --undefined-only "$lib" | sed 's/.* U //' | sort | tr '\n' ' ')
[ "$undefined" = "__environ@$baseline dl_iterate_phdr@$baseline " ] || refuse "needs other symbols or versions: $undefined"
relocations=$(readelf -rW "$lib" | grep -c ' R_')
[ "$relocations" -le 8 ] || refuse "$relocations relocations: each process pays for them when it starts"

if readelf -lW "$lib" | grep -Eq 'GNU_STACK.*RWE'; then refuse "wants an executable stack"; fi
tls=$(readelf -lW "$lib" | sed -n 's/^ *TLS *0x[0-9a-f]* 0x[0-9a-f]* 0x[0-9a-f]* 0x[0-9a-f]* \(0x[0-9a-f]*\).*/\1/p')
[ $((${tls:-0})) -le 64 ] || refuse "takes $((tls)) bytes of every thread"
exit $bad
