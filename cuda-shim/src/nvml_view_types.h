/* The types of NVML that only the library in the container meets: process lists of several ages. See nvml_types.h. */
#ifndef VGPU_NVML_VIEW_TYPES_H
#define VGPU_NVML_VIEW_TYPES_H

#include "nvml_types.h"

typedef unsigned int nvmlComputeMode_t;

typedef struct {
  unsigned int pid;
  unsigned long long usedGpuMemory;
} nvmlProcessInfo_v1_t;

typedef nvmlProcessInfo_t nvmlProcessInfo_v2_t;

typedef struct {
  unsigned int pid;
  unsigned long long usedGpuMemory;
  unsigned int gpuInstanceId;
  unsigned int computeInstanceId;
  unsigned long long usedGpuCcProtectedMemory;
} nvmlProcessDetail_v1_t;

typedef struct {
  unsigned int version; /* given by the caller: NVML_DETAIL_LIST_V1 */
  unsigned int mode;
  unsigned int numProcArrayEntries; /* in: room, out: entries */
  nvmlProcessDetail_v1_t *procArray;
} nvmlProcessDetailList_t;
#define NVML_DETAIL_LIST_V1 ((unsigned int)(sizeof(nvmlProcessDetailList_t) | (1u << 24)))

typedef struct {
  unsigned int pid;
  unsigned long long timeStamp; /* microseconds */
  unsigned int smUtil;
  unsigned int memUtil;
  unsigned int encUtil;
  unsigned int decUtil;
} nvmlProcessUtilizationSample_t;

typedef struct {
  unsigned long long timeStamp; /* microseconds */
  unsigned int pid;
  unsigned int smUtil;
  unsigned int memUtil;
  unsigned int encUtil;
  unsigned int decUtil;
  unsigned int jpgUtil;
  unsigned int ofaUtil;
} nvmlProcessUtilizationInfo_v1_t;

typedef struct {
  unsigned int version; /* given by the caller: NVML_PROCESSES_UTILIZATION_V1 */
  unsigned int processSamplesCount;
  unsigned long long lastSeenTimeStamp;
  nvmlProcessUtilizationInfo_v1_t *procUtilArray;
} nvmlProcessesUtilizationInfo_t;
#define NVML_PROCESSES_UTILIZATION_V1 ((unsigned int)(sizeof(nvmlProcessesUtilizationInfo_t) | (1u << 24)))

#endif
