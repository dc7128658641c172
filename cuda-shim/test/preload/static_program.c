/* A program that no preloaded library reaches: it must not mind either. */
#include <stdio.h>

int main(void) {
  (void)puts("static");
  return 5;
}
