#include "codes.h"

#include <stdint.h>
#include <string.h>

#include "line.h"
#include "profile.h"

static const struct {
  nvmlReturn_t code;
  const char *name;
  const char *text;
} CODES[] = {
    {NVML_SUCCESS, "SUCCESS", "Success"},
    {NVML_ERROR_UNINITIALIZED, "UNINITIALIZED", "Uninitialized"},
    {NVML_ERROR_INVALID_ARGUMENT, "INVALID_ARGUMENT", "Invalid Argument"},
    {NVML_ERROR_NOT_SUPPORTED, "NOT_SUPPORTED", "Not Supported"},
    {NVML_ERROR_NO_PERMISSION, "NO_PERMISSION", "Insufficient Permissions"},
    {NVML_ERROR_ALREADY_INITIALIZED, "ALREADY_INITIALIZED", "Already Initialized"},
    {NVML_ERROR_NOT_FOUND, "NOT_FOUND", "Not Found"},
    {NVML_ERROR_INSUFFICIENT_SIZE, "INSUFFICIENT_SIZE", "Insufficient Size"},
    {NVML_ERROR_INSUFFICIENT_POWER, "INSUFFICIENT_POWER", "Insufficient External Power"},
    {NVML_ERROR_DRIVER_NOT_LOADED, "DRIVER_NOT_LOADED", "Driver Not Loaded"},
    {NVML_ERROR_TIMEOUT, "TIMEOUT", "Timeout"},
    {NVML_ERROR_IRQ_ISSUE, "IRQ_ISSUE", "Interrupt Request Issue"},
    {NVML_ERROR_LIBRARY_NOT_FOUND, "LIBRARY_NOT_FOUND", "NVML Shared Library Not Found"},
    {NVML_ERROR_FUNCTION_NOT_FOUND, "FUNCTION_NOT_FOUND", "Function Not Found"},
    {NVML_ERROR_CORRUPTED_INFOROM, "CORRUPTED_INFOROM", "Corrupted infoROM"},
    {NVML_ERROR_GPU_IS_LOST, "GPU_IS_LOST", "GPU is lost"},
    {NVML_ERROR_RESET_REQUIRED, "RESET_REQUIRED", "GPU requires reset"},
    {NVML_ERROR_OPERATING_SYSTEM, "OPERATING_SYSTEM", "GPU access blocked by the operating system"},
    {NVML_ERROR_LIB_RM_VERSION_MISMATCH, "LIB_RM_VERSION_MISMATCH", "Driver/library version mismatch"},
    {NVML_ERROR_IN_USE, "IN_USE", "In use by another client"},
    {NVML_ERROR_MEMORY, "MEMORY", "Insufficient Memory"},
    {NVML_ERROR_NO_DATA, "NO_DATA", "No data"},
    {NVML_ERROR_INSUFFICIENT_RESOURCES, "INSUFFICIENT_RESOURCES", "Insufficient Resources"},
    {NVML_ERROR_ARGUMENT_VERSION_MISMATCH, "ARGUMENT_VERSION_MISMATCH", "Argument version mismatch"},
    {NVML_ERROR_DEPRECATED, "DEPRECATED", "Deprecated"},
    {NVML_ERROR_NOT_READY, "NOT_READY", "Not ready"},
    {NVML_ERROR_GPU_NOT_FOUND, "GPU_NOT_FOUND", "No GPU found"},
    {NVML_ERROR_INVALID_STATE, "INVALID_STATE", "Invalid state"},
    {NVML_ERROR_UNKNOWN, "UNKNOWN", "Unknown Error"},
};

bool code_by_name(const char *text, nvmlReturn_t *out) {
  uint64_t number = UINT64_MAX;
  bool numeric = line_parse_number(text, &number);
  for (size_t i = 0; i < sizeof CODES / sizeof CODES[0]; i++) {
    if (strcmp(text, CODES[i].name) == 0 || (numeric && number == (uint64_t)CODES[i].code)) {
      *out = CODES[i].code;
      return true;
    }
  }
  return false;
}

const char *code_text(nvmlReturn_t code) {
  for (size_t i = 0; i < sizeof CODES / sizeof CODES[0]; i++) {
    if (CODES[i].code == code) return CODES[i].text;
  }
  return "Unknown Error";
}

static const char *const FUNCTIONS[] = {
#define NVML_ROW(name, params, args) #name,
#define NVML_DEV NVML_ROW
#define NVML_OPEN NVML_ROW
#define NVML_TEXT NVML_ROW
#include "fake_nvml.def"
#undef NVML_ROW
#undef NVML_DEV
#undef NVML_OPEN
#undef NVML_TEXT
};

int fake_function_number(const char *name) {
  for (int i = 0; i < FN_COUNT; i++) {
    if (strcmp(name, FUNCTIONS[i]) == 0) return i;
  }
  return -1;
}
