/* Copies of the library with a fake.gpus beside them are nodes of their own in one process, without any environment. */
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "nvml_load.h"

static void copy(const char *from, const char *to) {
  static char buffer[1 << 20];
  FILE *in = fopen(from, "re"), *out = fopen(to, "we");
  CHECK(in != NULL && out != NULL, "%s", from);
  if (in == NULL || out == NULL) return;
  size_t n = fread(buffer, 1, sizeof buffer, in);
  CHECK(n > 0 && n < sizeof buffer && fwrite(buffer, 1, n, out) == n, "%s", to);
  (void)fclose(in);
  CHECK(fclose(out) == 0, "%s", to);
}

int main(int argc, char **argv) {
  static const char *const profiles[] = {"8xA100", "1xT4"};
  static const unsigned expected[] = {8, 1};
  struct nvml n[2];
  unsigned count = 0;
  if (argc != 3) return 2;
  (void)unsetenv("FAKE_GPUS");
  for (int i = 0; i < 2; i++) {
    char dir[] = "/tmp/vgpu-copy-XXXXXX", library[64], profile[64], from[4096];
    CHECK(mkdtemp(dir) != NULL, "%s", dir);
    (void)snprintf(library, sizeof library, "%s/libnvidia-ml.so.1", dir);
    (void)snprintf(profile, sizeof profile, "%s/fake.gpus", dir);
    (void)snprintf(from, sizeof from, "%s/%s.gpus", argv[2], profiles[i]);
    copy(argv[1], library);
    copy(from, profile);
    if (nvml_load(&n[i], library)) return 1;
    CHECK_EQ(n[i].nvmlInit_v2(), NVML_SUCCESS, profiles[i]);
    (void)unlink(library);
    (void)unlink(profile);
    (void)rmdir(dir);
  }
  for (int i = 0; i < 2; i++) {
    CHECK_EQ(n[i].nvmlDeviceGetCount_v2(&count), NVML_SUCCESS, profiles[i]);
    CHECK_EQ(count, expected[i], profiles[i]);
  }
  return check_result();
}
