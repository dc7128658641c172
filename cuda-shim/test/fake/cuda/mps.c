/*
 * A client of MPS, as far as it can be told from inside: one where the daemon's pipe directory has a `control`, which sees of
 * the multiprocessors what CUDA_MPS_ACTIVE_THREAD_PERCENTAGE leaves, rounded down to pairs (10 % of 132 are 12, 25 % 32, 50 %
 * 66 on an H200). The variables are read at cuInit; with CUDA_MPS_ENABLE_PER_CTX_DEVICE_MULTIPROCESSOR_PARTITIONING=1 anew at
 * each question, which stands for a context made after the program has changed them. Work still takes turns here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"

static _Atomic int percentage; /* 0: no client */

static int percentage_now(void) {
  char path[4096];
  const char *pipe = getenv("CUDA_MPS_PIPE_DIRECTORY"), *text = getenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE");
  (void)snprintf(path, sizeof path, "%s/control", pipe != NULL ? pipe : "/tmp/nvidia-mps");
  if (access(path, F_OK) != 0) return 0;
  int value = text == NULL ? 100 : atoi(text);
  return value < 1 || value > 100 ? 100 : value;
}

void mps_start(void) { atomic_store(&percentage, percentage_now()); }

bool mps_client(void) { return atomic_load(&percentage) != 0; }

int mps_multiprocessors(int all) {
  const char *each = getenv("CUDA_MPS_ENABLE_PER_CTX_DEVICE_MULTIPROCESSOR_PARTITIONING");
  int percent = mps_client() && each != NULL && strcmp(each, "1") == 0 ? percentage_now() : atomic_load(&percentage);
  if (percent == 0 || percent == 100) return all;
  int part = all * percent / 100 / 2 * 2;
  return part < 2 ? 2 : part;
}
