/*
 * A program that always has work for the card, as the limits see it: tenant KERNEL_NS BATCH SYNC. Launches kernels of one
 * length for ever; after each BATCH it waits for them if SYNC is 1.
 */
#include "cuda_calls.h"

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  long batch = strtol(argv[2], NULL, 10), sync = strtol(argv[3], NULL, 10);
  char text[96];
  (void)snprintf(text, sizeof text, "vgpu-fake-kernel name=spin ns=%s", argv[1]);
  (void)test_context();
  CUfunction f = test_kernel(text, "spin");
  for (long n = 1;; n++) {
    if (test_launch(f, NULL) != CUDA_SUCCESS) return 8;
    if (n % batch == 0 && sync != 0 && cuStreamSynchronize(NULL) != CUDA_SUCCESS) return 9;
  }
}
