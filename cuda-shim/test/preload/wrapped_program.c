/* Prints what the wrapped function says, twice: an answer that is remembered may be wrong the second time. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  (void)printf("%ld %ld\n", a64l(argv[1]), a64l(argv[1]));
  return 0;
}
