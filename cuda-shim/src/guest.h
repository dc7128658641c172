/*
 * Included first in everything that goes into containers: what is declared and not said otherwise is inside the library.
 * -fvisibility=hidden says that of definitions only, and a reference to what might be elsewhere costs a relocation.
 */
#pragma GCC visibility push(hidden)
