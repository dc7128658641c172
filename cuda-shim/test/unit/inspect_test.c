/* shim-inspect as it is run: on good regions, and on what a hostile or unlucky writer leaves behind. */
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "regions.h"

static const char *program;
static char directory[] = "/tmp/vgpu-inspect-XXXXXX";
static char output[1 << 20];

static struct vgpu_limits limits;
static struct vgpu_load load;
static struct vgpu_usage usage;

/* Runs it with stderr in the output; the exit status. */
static int inspect(const char *arguments) {
  char command[1024];
  (void)snprintf(command, sizeof command, "cd %s && %s %s 2>&1", directory, program, arguments);
  FILE *pipe = popen(command, "r");
  if (pipe == NULL) return -1;
  size_t n = fread(output, 1, sizeof output - 1, pipe);
  output[n] = '\0';
  int status = pclose(pipe);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void save(const char *name, const void *bytes, size_t length) {
  char path[128];
  (void)snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *f = fopen(path, "we");
  CHECK(f != NULL && fwrite(bytes, 1, length, f) == length && fclose(f) == 0, "%s", path);
}

static void make_directory(const char *name) {
  char path[128];
  (void)snprintf(path, sizeof path, "%s/%s", directory, name);
  CHECK_EQ(mkdir(path, 0755), 0, path);
}

static void says(const char *text) { CHECK(strstr(output, text) != NULL, "\"%s\" is not in: %s", text, output); }

static void prints_limits_as_one_json_object(void) {
  good_limits(&limits);
  save("limits", &limits, sizeof limits);
  CHECK_EQ(inspect("--json limits"), 0, "status");
  says(
      "{\"file\":\"limits\",\"region\":\"limits\",\"magic\":\"0x4D494C56\",\"major\":1,\"minor\":3,\"writer_epoch\":1700000000000000001,");
  says(
      "\"device_count\":2,\"devices\":[{\"index\":0,\"uuid\":\"GPU-12345678-1234-1234-1234-123456780003\",\"nvml_index\":3,"
      "\"flags\":[\"active\",\"memory\",\"compute\"],\"mem_limit\":10737418240,\"mem_physical\":10737418240,"
      "\"core_hard_permille\":250,\"core_soft_permille\":250,\"sm_count\":108,");
  says(",\"seq\":4},{\"index\":1,");
  CHECK(strstr(output, "}]}\n") != NULL && strchr(output, '\n') == output + strlen(output) - 1, "one line: %s", output);
}

static void prints_every_region_as_text(void) {
  good_load(&load);
  good_usage(&usage);
  save("load", &load, sizeof load);
  save("usage", &usage, sizeof usage);
  CHECK_EQ(inspect("limits load usage"), 0, "status");
  says(
      "  - index: 1\n    uuid: GPU-12345678-1234-1234-1234-123456780005\n    nvml_index: 5\n    flags:\n      - active\n      - memory\n");
  says("device_util_permille: 730");
  says("refund_ns: 123456789");
  says("bucket_ns: -5");
  says("  - slot: 1\n    state: live\n    pid: 77\n");
  says("slices: 9");
}

static void finds_the_one_directory_with_limits(void) {
  CHECK_EQ(inspect("--dir root"), 1, "no such directory");
  make_directory("root");
  make_directory("root/driver");
  CHECK_EQ(inspect("--dir root"), 1, "none");
  says("nothing is limited");
  make_directory("root/main");
  save("root/main/limits", &limits, sizeof limits);
  CHECK_EQ(inspect("--dir root --json"), 0, "one");
  says("\"file\":\"root/main/limits\"");
  make_directory("root/other");
  save("root/other/limits", &limits, sizeof limits);
  CHECK_EQ(inspect("--dir root"), 2, "two");
  says("more than one");
}

/* A changed copy of the good limits must be refused with these words and print nothing. */
static void refuses(const char *words) {
  save("bad", &limits, sizeof limits);
  CHECK_EQ(inspect("--json bad"), 2, words);
  says(words);
  CHECK(strchr(output, '{') == NULL, "printed all the same: %s", output);
  good_limits(&limits);
}

static void refuses_every_broken_field(void) {
  good_limits(&limits);
  limits.header.magic = 0, refuses("magic: 0, nobody has finished writing");
  limits.header.magic = 0x56474346, refuses("magic: 0x56474346 is of no region");
  limits.header.major = 2, refuses("major: 2, this program knows 1");
  limits.header.header_bytes = 64, refuses("header_bytes: 64 is not 128");
  limits.header.region_bytes = 8192, refuses("region_bytes: 8192 is not 4096");
  limits.header.stride = 0, refuses("stride: 0 is not 128");
  limits.header.device_count = 17, refuses("device_count: 17 is more than 16");
  limits.header.device_count = UINT32_MAX, refuses("device_count: 4294967295 is more than 16");
  limits.devices[1].seq = 7, refuses("device 1: seq: 7, being written at each of 1000 tries");
  limits.devices[0].flags = 0x200, refuses("device 0: flags: 0x200 has unknown bits");
  memset(limits.devices[0].uuid, 'x', 48), refuses("device 0: uuid: has no end");
  limits.devices[0].uuid[5] = '\n', refuses("device 0: uuid: character 5 is not printable");
  limits.devices[0].uuid[0] = '\0', refuses("device 0: uuid: empty, but active");
  limits.devices[0].core_soft_permille = 1001, refuses("core_soft_permille: 1001 is more than 1000");
  limits.devices[0].core_hard_permille = 251, refuses("core_hard_permille: 251 is more than core_soft_permille");
  limits.devices[0].mem_physical++, refuses("mem_physical: 10737418241 is more than mem_limit");
  limits.header.magic = VGPU_LOAD_MAGIC, refuses("stride: 128 is not 64");
  limits.header.magic = VGPU_USAGE_MAGIC, refuses("region_bytes: 4096 is not 524288");
}

static void a_newer_minor_version_is_read(void) {
  good_limits(&limits);
  limits.header.minor = 9;
  limits.devices[0].flags |= 0x200;
  save("newer", &limits, sizeof limits);
  CHECK_EQ(inspect("--json newer"), 0, "status");
  says("\"minor\":9");
  says("\"compute\",\"0x00000200\"]");
  good_limits(&limits);
}

static void refuses_what_the_container_may_write_into_usage(void) {
  good_usage(&usage);
  usage.header.slot_high_water = 1025;
  save("bad", &usage, sizeof usage);
  CHECK_EQ(inspect("bad"), 2, "status");
  says("slot_high_water: 1025 is more than 1024");
  good_usage(&usage);
  usage.slots[0].state = 5;
  save("bad", &usage, sizeof usage);
  CHECK_EQ(inspect("bad"), 2, "status");
  says("slot 0: state: 5 is unknown");
  memset(&usage, 0xFF, sizeof usage);
  good_header(&usage.header, VGPU_USAGE_MAGIC, VGPU_USAGE_BYTES, VGPU_USAGE_STRIDE, 16);
  save("ones", &usage, sizeof usage);
  CHECK_EQ(inspect("--json ones"), 0, "numbers may be anything");
  says("\"peak\":-1,\"oom_count\":18446744073709551615");
}

static void refuses_files_that_are_no_regions(void) {
  save("empty", "", 0);
  CHECK_EQ(inspect("empty"), 2, "empty");
  says("size: 0, shorter than a header");
  save("short", &limits, 4095);
  CHECK_EQ(inspect("short"), 2, "truncated");
  says("size: 4095 is not 4096");
  save(
      "garbage",
      "no region at all, but longer than one hundred and twenty-eight characters: it is one of the things that somebody may put "
      "there in place of one",
      140);
  CHECK_EQ(inspect("garbage"), 2, "garbage");
  says("is of no region");
  CHECK_EQ(inspect("no-such-file"), 1, "missing");
  CHECK_EQ(inspect("."), 2, "directory");
  says("not a regular file");
  char path[128];
  (void)snprintf(path, sizeof path, "%s/pipe", directory);
  CHECK_EQ(mkfifo(path, 0644), 0, path);
  CHECK_EQ(inspect("pipe"), 2, "a pipe that nobody writes does not hold it up");
  CHECK_EQ(inspect(""), 1, "no file");
  CHECK_EQ(inspect("--nope limits"), 1, "unknown option");
  CHECK_EQ(inspect("--dir"), 1, "no directory");
  CHECK_EQ(inspect("--dir root limits"), 1, "both");
  CHECK_EQ(inspect("no-such-file limits garbage limits"), 2, "the worst of several");
  says("GPU-12345678");
}

int main(int argc, char **argv) {
  if (argc != 2 || mkdtemp(directory) == NULL) return 2;
  program = argv[1];
  prints_limits_as_one_json_object();
  prints_every_region_as_text();
  finds_the_one_directory_with_limits();
  refuses_every_broken_field();
  a_newer_minor_version_is_read();
  refuses_what_the_container_may_write_into_usage();
  refuses_files_that_are_no_regions();
  char command[64];
  (void)snprintf(command, sizeof command, "rm -rf %s", directory);
  CHECK_EQ(system(command), 0, "clean");
  return check_result();
}
