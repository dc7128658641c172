// A program of the CUDA runtime, statically linked as nvcc does: memory told, refused beyond, stream-ordered, and a kernel.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void fill(int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i;
}

int main() {
  size_t available, total;
  if (cudaMemGetInfo(&available, &total) != cudaSuccess) return 1;
  cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) return 1;
  void *pieces[64];
  int taken = 0;
  cudaError_t refused = cudaSuccess;
  while (taken < 64 && (refused = cudaMalloc(&pieces[taken], 64 << 20)) == cudaSuccess) taken++;
  cudaGetLastError();
  for (int i = 0; i < taken; i++) cudaFree(pieces[i]);
  int ordered = 0;
  cudaError_t beyond = cudaSuccess;
  while (ordered < 64 && (beyond = cudaMallocAsync(&pieces[ordered], 64 << 20, 0)) == cudaSuccess) ordered++;
  cudaGetLastError();
  for (int i = 0; i < ordered; i++) cudaFreeAsync(pieces[i], 0);
  cudaDeviceSynchronize();
  int *out, host[1000];
  if (cudaMalloc(&out, sizeof host) != cudaSuccess) return 1;
  fill<<<4, 256>>>(out, 1000);
  if (cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess || host[999] != 999) return 1;
  printf("{\"total_mib\": %zu, \"free_mib\": %zu, \"properties_mib\": %zu, \"given_mib\": %d, \"error\": %d, "
         "\"async_mib\": %d, \"async_error\": %d}\n",
         total >> 20, available >> 20, properties.totalGlobalMem >> 20, taken * 64, (int)refused, ordered * 64, (int)beyond);
  return 0;
}
