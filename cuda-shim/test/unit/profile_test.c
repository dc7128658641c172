/* The profile's parser: what it refuses, and that it says where and why. */
#include <stdlib.h>

#include "check.h"
#include "line.h"
#include "profile.h"

#define SYSTEM "system driver=1 nvml=1 cuda=12040\n"
#define CARD(i, more)                                                                         \
  "device " #i " name=X uuid=GPU-00000000-0000-0000-0000-00000000000" #i " pci=00000000:0" #i \
  ":00.0 memory=1GiB cc=8.0 "                                                                 \
  "cores=64" more "\n"
#define MIG_UUID "uuid=MIG-00000000-0000-0000-0000-00000000000"

static const struct {
  const char *text;
  const char *error; /* begins so */
} BAD[] = {
    {"", "0: system: missing"},
    {"# nothing\n\n", "2: system: missing"},
    {"sytem driver=1\n", "1: line: \"sytem\" is no directive"},
    {"driver=1\n", "1: line: does not begin with a word"},
    {"system driver=1 nvml=1\n", "1: cuda: missing"},
    {"system driver= nvml=1 cuda=12040\n", "1: driver: has 0 characters"},
    {"system driver=1 nvml=1 cuda=12.4\n", "1: cuda: \"12.4\" is not a number"},
    {"system driver=1 nvml=1 cuda=1\n", "1: cuda: 1 is not between 1000 and 99999"},
    {SYSTEM SYSTEM, "2: system: given twice"},
    {SYSTEM "device 1 name=X\n", "2: device: 1 comes where 0 is next"},
    {SYSTEM "device zero name=X\n", "2: device: \"zero\" is not a number"},
    {SYSTEM CARD(0, " color=green"), "2: color: is no field of \"device\""},
    {SYSTEM CARD(0, " minor=1 minor=2"), "2: minor: given twice"},
    {SYSTEM CARD(0, " name"), "2: line: \"name\" is not key=value"},
    {SYSTEM CARD(0, " numa=-1"), "2: numa: \"-1\" is not a number"},
    {SYSTEM CARD(0, " reserved=2GiB"), "2: reserved: is more than memory"},
    {SYSTEM CARD(0, " reserved=2QiB"), "2: reserved: \"2QiB\" is not a size"},
    {SYSTEM CARD(0, " reserved=99999999999999999GiB"), "2: reserved: \"99999999999999999GiB\" is not a size"},
    {SYSTEM CARD(0, " mig=on"), "2: mig: \"on\" is none of unsupported, disabled, enabled"},
    {SYSTEM CARD(0, " numa=\"1"), "2: line: a quote is not closed"},
    {SYSTEM "device 0 name=X uuid=GPU-1 pci=00000000:01:00.0 memory=1GiB cc=8.0 cores=1\n", "2: uuid: \"GPU-1\" is not GPU-"},
    {SYSTEM "device 0 name=X uuid=GPU-00000000-0000-0000-0000-000000000000 pci=1:0.0 memory=1 cc=8.0 cores=1\n",
     "2: pci: \"1:0.0\" is not a PCI address"},
    {SYSTEM "device 0 name=X uuid=GPU-00000000-0000-0000-0000-000000000000 pci=00000000:01:00.0 memory=1 cc=8 cores=1\n",
     "2: cc: \"8\" is not a compute capability"},
    {SYSTEM CARD(0, "") CARD(0, ""), "3: device: 0 comes where 1 is next"},
    {SYSTEM CARD(0, "") CARD(1, " minor=0"), "3: minor: 0 is device 0's already"},
    {SYSTEM CARD(
         0, "") "device 1 name=X uuid=GPU-00000000-0000-0000-0000-000000000000 pci=00000000:01:00.0 memory=1 cc=8.0 cores=1\n",
     "3: uuid: \"GPU-00000000-0000-0000-0000-000000000000\" is device 0's already"},
    {SYSTEM CARD(
         0, "") "device 1 name=X uuid=GPU-00000000-0000-0000-0000-000000000001 pci=00000000:00:00.0 memory=1 cc=8.0 cores=1\n",
     "3: pci: is device 0's already"},
    {SYSTEM CARD(0, "") "mig 0 0 " MIG_UUID "0 profile=1g gi=1 sms=1 memory=1MiB slices=1\n",
     "3: mig: the device is not mig=enabled"},
    {SYSTEM CARD(0, " mig=enabled") "mig 0 7 " MIG_UUID "0 profile=1g gi=1 sms=1 memory=1MiB slices=1\n",
     "3: mig: 7 is not below 7"},
    {SYSTEM CARD(0, " mig=enabled") "mig 0 0 " MIG_UUID "0 profile=1g gi=1 sms=1 memory=2GiB slices=1\n",
     "3: memory: 2GiB is not between 0 and 1073741824"},
    {SYSTEM CARD(0, " mig=enabled") "mig 0 0 " MIG_UUID "0 profile=1g gi=1 sms=1 memory=1MiB slices=1\n"
                                    "mig 0 1 " MIG_UUID "1 profile=1g gi=1 sms=1 memory=1MiB slices=1\n",
     "4: gi: with this ci is mig 0's already"},
    {SYSTEM CARD(0, "") "nvlink 0 1 count=1\n", "3: device: 1 is not below 1"},
    {SYSTEM CARD(0, "") "nvlink 0 0 count=1\n", "3: device: a link needs two of them"},
    {SYSTEM CARD(0, "") CARD(1, "") CARD(2, "") "nvlink 0 1 count=12\nnvlink 0 2 count=12\n",
     "6: count: device 0 then has 24 links"},
    {SYSTEM CARD(0, "") "switch-links all count=12\n", "3: switch-links: there is no nvswitch line before"},
    {SYSTEM "nvswitch\n", "2: nvswitch: has no PCI address"},
    {SYSTEM CARD(0, "") CARD(1, "") "pcie 0 1 level=far\n", "4: level: \"far\" is none of internal, single"},
    {SYSTEM CARD(0, "") "load 0 util=101\n", "3: util: 101 is not between 0 and 100"},
    {SYSTEM CARD(0, "") "load 0 at=-1\n", "3: at: \"-1\" is not a time"},
    {SYSTEM CARD(0, "") "load 0 at=1.0000000001\n", "3: at: \"1.0000000001\" is not a time"},
    {SYSTEM CARD(0, "") "load 0 used=2GiB\n", "3: used: is more than device 0 has"},
    {SYSTEM CARD(0, "") "process 0 pid=0 used=1\n", "3: pid: 0 is not between 1"},
    {SYSTEM CARD(0, "") "process 0 pid=1 used=1 at=2 until=1\n", "3: until: is before at"},
    {SYSTEM CARD(0, "") "process 0 pid=1 used=1 mig=0\n", "3: mig: device 0 has no mig 0"},
    {SYSTEM CARD(0, "") "xid 0 code=79\n", "3: at: missing"},
    {SYSTEM CARD(0, "") "xid 0 at=1\n", "3: code: missing"},
    {SYSTEM CARD(0, "") "ecc 0 type=triple at=1\n", "3: type: \"triple\" is none of single, double"},
    {SYSTEM CARD(0, "") "fail nvmlDeviceGetNmae code=UNKNOWN\n", "3: function: \"nvmlDeviceGetNmae\" is not in fake_nvml.def"},
    {SYSTEM CARD(0, "") "fail nvmlDeviceGetName code=BROKEN\n", "3: code: \"BROKEN\" is no return code"},
    {SYSTEM CARD(0, "") "fail nvmlDeviceGetName code=SUCCESS\n", "3: code: SUCCESS is no failure"},
    {SYSTEM CARD(0, "") "fail nvmlDeviceGetName code=UNKNOWN device=1\n", "3: device: 1 is not below 1"},
    {SYSTEM CARD(0, "") "hang nvmlDeviceGetName\n", "3: ms: missing"},
    {SYSTEM "clear now\n", "2: line: unexpected word \"now\""},
    {SYSTEM "a b c d e\n", "2: line: too many words"},
};

static struct fake_profile profile;

static void each_error_names_its_line_and_field(void) {
  for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
    char error[FAKE_ERROR_BYTES] = "";
    bool failed = fake_profile_parse(&profile, BAD[i].text, strlen(BAD[i].text), error);
    CHECK(failed, "accepted: %s", BAD[i].text);
    CHECK(strncmp(error, BAD[i].error, strlen(BAD[i].error)) == 0, "row %zu: got \"%s\", expected \"%s\"", i, error,
          BAD[i].error);
  }
}

static void a_line_may_not_be_longer_than_its_buffer_nor_hold_a_nul(void) {
  static char text[3000];
  char error[FAKE_ERROR_BYTES];
  memset(text, 'x', sizeof text);
  CHECK(fake_profile_parse(&profile, text, sizeof text, error), "long line");
  CHECK(strcmp(error, "1: line: longer than 1023 characters") == 0, "%s", error);
  CHECK(fake_profile_parse(&profile, "sys\0tem", 7, error), "NUL");
  CHECK(strcmp(error, "1: line: contains a NUL character") == 0, "%s", error);
}

/* One more of everything than there is room for is refused, not written. */
static void tables_have_ends(void) {
  static const struct {
    const char *line;
    int room;
  } rows[] = {{"load 0 util=1\n", FAKE_LOADS},
              {"process 0 pid=1 used=1\n", FAKE_PROCESSES},
              {"xid 0 code=1 at=1\n", FAKE_EVENTS},
              {"hang nvmlDeviceGetName ms=1\n", FAKE_FAULTS},
              {"nvswitch 00000000:01:00.0\n", FAKE_SWITCHES}};
  char error[FAKE_ERROR_BYTES];
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    fake_profile_init(&profile);
    const char *card = CARD(0, "");
    CHECK(!fake_profile_line(&profile, card, strlen(card) - 1, 0, false, error), "%s", error);
    size_t n = strlen(rows[r].line) - 1;
    for (int i = 0; i < rows[r].room; i++) CHECK(!fake_profile_line(&profile, rows[r].line, n, 0, false, error), "%s", error);
    CHECK(fake_profile_line(&profile, rows[r].line, n, 0, false, error), "%s", rows[r].line);
    CHECK(strstr(error, "more than") != NULL, "%s", error);
  }
}

static void what_the_node_is_cannot_change_while_it_runs(void) {
  char error[FAKE_ERROR_BYTES];
  fake_profile_init(&profile);
  const char *card = CARD(0, ""), *xid = "xid 0 code=79";
  CHECK(fake_profile_line(&profile, card, strlen(card) - 1, 0, true, error), "device");
  CHECK(strcmp(error, "device: cannot change while the node runs") == 0, "%s", error);
  CHECK(!fake_profile_line(&profile, card, strlen(card) - 1, 0, false, error), "%s", error);
  CHECK(!fake_profile_line(&profile, xid, strlen(xid), 7, true, error), "%s", error);
  CHECK_EQ(profile.events[0].at, 7, "an event of the control file happens now");
}

static void values_mean_what_the_format_says(void) {
  char error[FAKE_ERROR_BYTES];
  uint64_t ns = 0, n = 0;
  const char *text = SYSTEM
      "device 0 name=\"A  B\" uuid=GPU-00000000-0000-0000-0000-000000000000 pci=0000abcd:Ef:1f.0 memory=3MiB "
      "reserved=1KiB cc=12.1 cores=0x40 # end\r\n";
  CHECK(!fake_profile_parse(&profile, text, strlen(text), error), "%s", error);
  const struct fake_device *d = &profile.devices[0];
  CHECK(strcmp(d->name, "A  B") == 0, "%s", d->name);
  CHECK_EQ(d->memory, 3 << 20, "memory");
  CHECK_EQ(d->reserved, 1024, "reserved");
  CHECK_EQ(d->cores, 64, "cores");
  CHECK_EQ(d->cc_major * 10 + d->cc_minor, 121, "cc");
  CHECK_EQ(d->pci.domain, 0xABCD, "domain");
  CHECK_EQ(d->pci.bus, 0xEF, "bus");
  CHECK_EQ(d->numa, -1, "numa");
  CHECK(line_parse_seconds("1.5", &ns) && ns == 1500000000u, "1.5 s");
  CHECK(line_parse_seconds("1000000000", &ns) && !line_parse_seconds("1000000001", &ns), "longest time");
  CHECK(line_parse_number("18446744073709551615", &n) && n == UINT64_MAX, "largest number");
  CHECK(!line_parse_number("18446744073709551616", &n), "too large");
}

int main(void) {
  each_error_names_its_line_and_field();
  a_line_may_not_be_longer_than_its_buffer_nor_hold_a_nul();
  tables_have_ends();
  what_the_node_is_cannot_change_while_it_runs();
  values_mean_what_the_format_says();
  return check_result();
}
