/* Questions about cards. */
#include <stdio.h>

#include "driver.h"

CUresult cuDeviceGetCount(int *count);
CUresult cuDeviceGetCount(int *count) {
  ENTER;
  if (count == NULL) return CUDA_ERROR_INVALID_VALUE;
  *count = (int)driver.device_count;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal);
CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  ENTER;
  if (device == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device);
CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
  ENTER;
  if (name == NULL || length <= 0) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  (void)snprintf(name, (size_t)length, "%s", card_profile(device)->name);
  return CUDA_SUCCESS;
}

/* GPU-xxxxxxxx-xxxx-…: the 32 digits after the prefix are the 16 bytes. */
static CUresult get_uuid(CUuuid *uuid, CUdevice device) {
  if (uuid == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  const char *text = card_profile(device)->uuid + 4;
  for (int i = 0; i < 16; i++) {
    unsigned byte = 0;
    if (*text == '-') text++;
    (void)sscanf(text, "%2x", &byte);
    uuid->bytes[i] = (char)byte;
    text += 2;
  }
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device);
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
  ENTER;
  return get_uuid(uuid, device);
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device);
CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
  ENTER;
  return get_uuid(uuid, device);
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  ENTER;
  if (bytes == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = driver.gpu.state->devices[card_of(device)].total;
  return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device);
CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
  ENTER;
  if (major == NULL || minor == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *major = card_profile(device)->cc_major;
  *minor = card_profile(device)->cc_minor;
  return CUDA_SUCCESS;
}

static int multiprocessors(const struct fake_device *d) {
  int each = d->cc_major > 8 || (d->cc_major == 8 && d->cc_minor > 0) ? 128 : 64;
  return mps_multiprocessors((int)d->cores / each);
}

CUresult device_multiprocessors(CUdevice d, int *count) {
  if (!valid_device(d)) return CUDA_ERROR_INVALID_DEVICE;
  *count = multiprocessors(card_profile(d));
  return CUDA_SUCCESS;
}

/* Those that differ by card; the rest is as an H200 has it. */
static int attribute(const struct fake_device *d, int which, bool *known) {
  static const int H200[][2] = {
      {1, 1024},       {2, 1024},        {3, 1024},     {4, 64},          {5, 2147483647}, {6, 65535},    {7, 65535},
      {8, 49152},      {9, 65536},       {10, 32},      {11, 2147483647}, {12, 65536},     {13, 1980000}, {14, 512},
      {15, 1},         {17, 0},          {18, 0},       {19, 1},          {20, 0},         {30, 512},     {31, 1},
      {32, 1},         {35, 0},          {36, 3201000}, {37, 6144},       {38, 62914560},  {39, 2048},    {40, 3},
      {41, 1},         {51, 32},         {78, 1},       {79, 1},          {80, 1},         {81, 233472},  {82, 65536},
      {83, 1},         {84, 0},          {86, 0},       {87, 2},          {88, 0},         {89, 1},       {90, 1},
      {91, 1},         {95, 1},          {96, 1},       {97, 232448},     {98, 1},         {99, 1},       {100, 0},
      {101, 0},        {102, 1},         {103, 1},      {104, 0},         {105, 0},        {106, 32},     {107, 0},
      {108, 39321600}, {109, 134217728}, {110, 0},      {111, 1024},      {112, 0},        {115, 1},      {116, 0},
      {119, 1},        {120, 1},         {121, 0},      {122, 1},         {123, 1},        {125, 1},      {126, 4},
      {129, 1},        {132, 0},
  };
  *known = true;
  switch (which) {
    case 16: return multiprocessors(d);
    case 33: return (int)d->pci.bus;
    case 34: return (int)d->pci.device;
    case 50: return (int)d->pci.domain;
    case 75: return d->cc_major;
    case 76: return d->cc_minor;
    case 133: return mps_client();
    default: break;
  }
  for (size_t i = 0; i < sizeof H200 / sizeof H200[0]; i++) {
    if (H200[i][0] == which) return H200[i][1];
  }
  *known = which >= 1 && which <= 162;
  return 0;
}

CUresult cuDeviceGetAttribute(int *value, int which, CUdevice device);
CUresult cuDeviceGetAttribute(int *value, int which, CUdevice device) {
  ENTER;
  bool known = false;
  if (value == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  int found = attribute(card_profile(device), which, &known);
  if (!known) return CUDA_ERROR_INVALID_VALUE;
  *value = found;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *text, int length, CUdevice device);
CUresult cuDeviceGetPCIBusId(char *text, int length, CUdevice device) {
  ENTER;
  if (text == NULL || length < 13) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  struct fake_pci p = card_profile(device)->pci;
  (void)snprintf(text, (size_t)length, "%04X:%02X:%02X.0", p.domain & 0xFFFFu, p.bus & 0xFFu, p.device & 0xFFu);
  return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer);
CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
  ENTER;
  if (can == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device) || !valid_device(peer)) return CUDA_ERROR_INVALID_DEVICE;
  *can = device != peer;
  return CUDA_SUCCESS;
}

CUresult cuProfilerStart(void);
CUresult cuProfilerStart(void) {
  ENTER;
  return CUDA_SUCCESS;
}

CUresult cuProfilerStop(void);
CUresult cuProfilerStop(void) {
  ENTER;
  return CUDA_SUCCESS;
}

/* The private tables are NVIDIA's own; here are none. */
CUresult cuGetExportTable(const void **table, const CUuuid *id);
CUresult cuGetExportTable(const void **table, const CUuuid *id) {
  ENTER_OPEN;
  if (table == NULL || id == NULL) return CUDA_ERROR_INVALID_VALUE;
  *table = NULL;
  return CUDA_ERROR_NOT_FOUND;
}
