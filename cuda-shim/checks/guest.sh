#!/bin/sh
# A library that is loaded into every process does nothing by being loaded.  guest.sh LIBRARY
set -eu
lib=$1
bad=0
refuse() { echo "$lib: $1" >&2; bad=1; }

dynamic=$(readelf -dW "$lib")
echo "$dynamic" | grep -q 'SONAME.*libvgpu-control\.so' || refuse "no dynamic section with its name: this check reads nothing"
for tag in INIT INIT_ARRAY FINI FINI_ARRAY PREINIT_ARRAY; do
  if echo "$dynamic" | grep -q "($tag)"; then refuse "has $tag: something runs when it is loaded or unloaded"; fi
done
if echo "$dynamic" | grep -Eq '\((NEEDED|RPATH|RUNPATH)\)'; then refuse "needs other libraries"; fi
if echo "$dynamic" | grep -q 'TEXTREL'; then refuse "has text relocations"; fi
echo "$dynamic" | grep -q 'FLAGS.*BIND_NOW' || refuse "is not bound at once"
echo "$dynamic" | grep -q 'FLAGS_1.*NODELETE' || refuse "can be unloaded"
if [ -n "$(nm -D --undefined-only "$lib")" ]; then refuse "needs symbols: $(nm -D --undefined-only "$lib")"; fi
if readelf -VW "$lib" | grep -q GLIBC_; then refuse "asks for versions of glibc"; fi
if readelf -lW "$lib" | grep -Eq 'GNU_STACK.*RWE'; then refuse "wants an executable stack"; fi
if readelf -lW "$lib" | grep -q ' TLS '; then refuse "takes thread-local storage of every process"; fi
exit $bad
