/* Memory of another interface (Vulkan, a dma-buf) by descriptor: here only its size and address matter. */
#include <fcntl.h>
#include <unistd.h>

#include "driver.h"

enum { MAGIC_EXTERNAL = 0x45585446 };

struct CUextMemory_st {
  uint32_t magic;
  uint64_t bytes;
  CUdevice device;
};

typedef struct {
  unsigned long long offset, size;
  unsigned int flags;
  unsigned int reserved[16];
} CUDA_EXTERNAL_MEMORY_BUFFER_DESC;

/* Takes the descriptor over, as the real one does. */
CUresult cuImportExternalMemory(CUexternalMemory *memory, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc) {
  ENTER_CTX;
  if (memory == NULL || desc == NULL || desc->size == 0) return CUDA_ERROR_INVALID_VALUE;
  if (desc->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD && desc->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  if (fcntl(desc->handle.fd, F_GETFD) < 0) return CUDA_ERROR_INVALID_HANDLE;
  struct CUextMemory_st *m = calloc(1, sizeof *m);
  if (m == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  *m = (struct CUextMemory_st){MAGIC_EXTERNAL, desc->size, ctx->device};
  (void)close(desc->handle.fd);
  *memory = m;
  return CUDA_SUCCESS;
}

CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr *dptr, CUexternalMemory memory,
                                         const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *desc);
CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr *dptr, CUexternalMemory memory,
                                         const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *desc) {
  ENTER_CTX;
  if (dptr == NULL || desc == NULL || memory == NULL || memory->magic != MAGIC_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
  if (desc->size == 0 || desc->offset > memory->bytes || desc->size > memory->bytes - desc->offset)
    return CUDA_ERROR_INVALID_VALUE;
  uint64_t mapped = (desc->size + 4095) / 4096 * 4096;
  struct memory m = {.at = memory_map(mapped),
                     .bytes = desc->size,
                     .mapped = mapped,
                     .kind = MEMORY_DEVICE,
                     .device = memory->device,
                     .ctx = ctx};
  if (m.at == 0 || !memory_insert(&m)) return CUDA_ERROR_OUT_OF_MEMORY;
  *dptr = m.at; /* goes with cuMemFree */
  return CUDA_SUCCESS;
}

CUresult cuDestroyExternalMemory(CUexternalMemory memory) {
  ENTER;
  if (memory == NULL || memory->magic != MAGIC_EXTERNAL) return CUDA_ERROR_INVALID_HANDLE;
  memory->magic = MAGIC_GONE;
  free(memory);
  return CUDA_SUCCESS;
}
