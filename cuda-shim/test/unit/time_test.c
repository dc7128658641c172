/*
 * What happens to a fake node while it runs: loads, processes, events, losses, failures, hangs, the control file, MIG.
 * Each case is a process of its own with its own profile; the node's start is moved to the past where a case is about a
 * later moment, so that nothing waits.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "nvml_load.h"

#define UUID "uuid=GPU-00000000-0000-0000-0000-00000000000"
#define SYSTEM "system driver=1 nvml=1 cuda=12040\n"
#define CARD0 "device 0 name=X " UUID "0 pci=00000000:01:00.0 memory=10GiB reserved=1GiB cc=8.0 cores=6912 mig=disabled\n"
#define CARD1 "device 1 name=X " UUID "1 pci=00000000:02:00.0 memory=10GiB reserved=1GiB cc=8.0 cores=6912 mig=disabled\n"
#define CARDM "device 0 name=X " UUID "0 pci=00000000:01:00.0 memory=40GiB cc=8.0 cores=6912 mig=enabled\n"
#define MIG0 "mig 0 0 uuid=MIG-00000000-0000-0000-0000-000000000000 profile=1g.5gb gi=7 sms=14 memory=4864MiB slices=1\n"
#define MIG2 \
  "mig 0 2 uuid=MIG-00000000-0000-0000-0000-000000000002 profile=2g.10gb gi=3 sms=28 memory=9856MiB slices=2 copy-engines=2\n"
#define OK(call) CHECK_EQ((call), NVML_SUCCESS, #call)

static struct nvml n;
static char directory[] = "/tmp/vgpu-fake-XXXXXX";
static char control[96];

static nvmlDevice_t device(unsigned i) {
  nvmlDevice_t d = NULL;
  OK(n.nvmlDeviceGetHandleByIndex_v2(i, &d));
  return d;
}

static void tell(const char *lines) {
  FILE *f = fopen(control, "ae");
  CHECK(f != NULL && fputs(lines, f) >= 0 && fclose(f) == 0, "%s", control);
}

static double seconds(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static nvmlEventSet_t watch(unsigned i, unsigned long long types) {
  nvmlEventSet_t set = NULL;
  OK(n.nvmlEventSetCreate(&set));
  OK(n.nvmlDeviceRegisterEvents(device(i), types, set));
  return set;
}

/* At 100 s the second load line holds, and one of three processes has begun and not ended. */
static void loads_and_processes_follow_time(void) {
  nvmlUtilization_t u = {0, 0};
  nvmlMemory_t m = {0, 0, 0};
  nvmlProcessInfo_t infos[2];
  unsigned count = 0;
  OK(n.nvmlInit_v2());
  OK(n.nvmlDeviceGetUtilizationRates(device(0), &u));
  CHECK_EQ(u.gpu, 80, "gpu");
  CHECK_EQ(u.memory, 40, "memory");
  OK(n.nvmlDeviceGetMemoryInfo(device(0), &m));
  CHECK_EQ(m.used, 3ull << 30, "what the load line says and the reserve");
  OK(n.nvmlDeviceGetMemoryInfo(device(1), &m));
  CHECK_EQ(m.used, (1ull << 30) + (512ull << 20), "the reserve and the sum of the processes");
  CHECK_EQ(n.nvmlDeviceGetComputeRunningProcesses_v3(device(1), &count, NULL), NVML_ERROR_INSUFFICIENT_SIZE, "asking how many");
  CHECK_EQ(count, 2, "processes");
  OK(n.nvmlDeviceGetComputeRunningProcesses_v3(device(1), &count, infos));
  CHECK_EQ(infos[0].pid, 12, "pid");
  CHECK_EQ(infos[0].usedGpuMemory, 512ull << 20, "bytes");
  CHECK(infos[1].usedGpuMemory == ~0ull, "unknown memory is all ones");
  CHECK_EQ(infos[0].gpuInstanceId, NVML_NO_INSTANCE, "whole card");
  count = 0;
  OK(n.nvmlDeviceGetGraphicsRunningProcesses_v3(device(1), &count, NULL));
  CHECK_EQ(count, 0, "none of this kind is success");
}

static void an_event_reaches_those_who_asked_before_it(void) {
  nvmlEventData_t e;
  unsigned long long types = 0;
  OK(n.nvmlInit_v2());
  OK(n.nvmlDeviceGetSupportedEventTypes(device(0), &types));
  CHECK_EQ(types, 0xB, "XID and both kinds of ECC");
  nvmlEventSet_t xids = watch(0, nvmlEventTypeXidCriticalError), all = watch(0, types);
  CHECK_EQ(n.nvmlEventSetWait_v2(xids, &e, 0), NVML_ERROR_TIMEOUT, "the XID of 5 s was before");
  tell("xid 0 code=79\necc 0 type=double\n");
  OK(n.nvmlEventSetWait_v2(xids, &e, 5000));
  CHECK_EQ(e.eventData, 79, "XID");
  CHECK_EQ(e.eventType, nvmlEventTypeXidCriticalError, "type");
  CHECK(e.device == device(0), "device");
  CHECK_EQ(e.gpuInstanceId, NVML_NO_INSTANCE, "whole card");
  CHECK_EQ(n.nvmlEventSetWait_v2(xids, &e, 0), NVML_ERROR_TIMEOUT, "once, and not what it did not ask for");
  OK(n.nvmlEventSetWait_v2(all, &e, 5000));
  CHECK_EQ(e.eventData, 79, "each set has it");
  OK(n.nvmlEventSetWait_v2(all, &e, 5000));
  CHECK_EQ(e.eventType, nvmlEventTypeDoubleBitEccError, "ECC");
  CHECK_EQ(n.nvmlDeviceRegisterEvents(device(0), nvmlEventTypeClock, all), NVML_ERROR_NOT_SUPPORTED, "unsupported type");
  OK(n.nvmlEventSetFree(all));
  CHECK_EQ(n.nvmlEventSetFree(all), NVML_ERROR_INVALID_ARGUMENT, "freed twice");
  CHECK_EQ(n.nvmlEventSetWait_v2(all, &e, 0), NVML_ERROR_INVALID_ARGUMENT, "freed");
}

static void *say_later(void *unused) {
  (void)unused;
  tell("xid 1 code=48\n");
  return NULL;
}

static void a_wait_ends_when_the_event_comes(void) {
  nvmlEventData_t e;
  pthread_t thread;
  OK(n.nvmlInit_v2());
  nvmlEventSet_t set = watch(1, nvmlEventTypeXidCriticalError);
  CHECK_EQ(pthread_create(&thread, NULL, say_later, NULL), 0, "thread");
  OK(n.nvmlEventSetWait_v2(set, &e, 60000));
  CHECK_EQ(e.eventData, 48, "XID");
  (void)pthread_join(thread, NULL);
}

static void a_lost_card_is_lost_everywhere(void) {
  nvmlUtilization_t u;
  nvmlEventData_t e;
  nvmlDevice_t d = NULL;
  nvmlGpuTopologyLevel_t level;
  OK(n.nvmlInit_v2());
  nvmlDevice_t zero = device(0), one = device(1);
  nvmlEventSet_t set = watch(1, nvmlEventTypeXidCriticalError);
  tell("lost 1\nxid 1 code=79\n");
  CHECK_EQ(n.nvmlDeviceGetUtilizationRates(one, &u), NVML_ERROR_GPU_IS_LOST, "the card");
  CHECK_EQ(n.nvmlDeviceGetHandleByIndex_v2(1, &d), NVML_ERROR_GPU_IS_LOST, "by index");
  CHECK_EQ(n.nvmlDeviceGetTopologyCommonAncestor(zero, one, &level), NVML_ERROR_GPU_IS_LOST, "as the other one");
  OK(n.nvmlDeviceGetUtilizationRates(zero, &u));
  OK(n.nvmlEventSetWait_v2(set, &e, 5000));
  CHECK_EQ(n.nvmlEventSetWait_v2(set, &e, 5000), NVML_ERROR_GPU_IS_LOST, "after its XID");
  tell("clear\n");
  OK(n.nvmlDeviceGetUtilizationRates(one, &u));
}

static void failures_hit_the_calls_they_name(void) {
  nvmlUtilization_t u;
  nvmlMemory_t m;
  CHECK_EQ(n.nvmlInit_v2(), NVML_ERROR_DRIVER_NOT_LOADED, "first");
  OK(n.nvmlInit_v2());
  OK(n.nvmlDeviceGetUtilizationRates(device(0), &u));
  CHECK_EQ(n.nvmlDeviceGetUtilizationRates(device(0), &u), NVML_ERROR_UNKNOWN, "second");
  CHECK_EQ(n.nvmlDeviceGetUtilizationRates(device(1), &u), NVML_ERROR_UNKNOWN, "third");
  OK(n.nvmlDeviceGetUtilizationRates(device(0), &u));
  OK(n.nvmlDeviceGetMemoryInfo(device(0), &m));
  CHECK_EQ(n.nvmlDeviceGetMemoryInfo(device(1), &m), NVML_ERROR_NO_PERMISSION, "always on card 1");
  tell("clear\n");
  OK(n.nvmlDeviceGetMemoryInfo(device(1), &m));
  tell("fail nvmlDeviceGetMemoryInfo code=4 from=4 count=1\nthis is no directive\nfail nvmlDeviceGetName code=UNKNOWN\n");
  CHECK_EQ(n.nvmlDeviceGetMemoryInfo(device(0), &m), NVML_ERROR_NO_PERMISSION, "a code by number, counted from the start");
  char name[96];
  CHECK_EQ(n.nvmlDeviceGetName(device(0), name, 96), NVML_ERROR_UNKNOWN, "a bad line does not hide the next");
}

static pthread_barrier_t both_run;
static atomic_bool came_back;

static void *ask_hanging_card(void *hanging) {
  nvmlUtilization_t u;
  (void)pthread_barrier_wait(&both_run);
  (void)n.nvmlDeviceGetUtilizationRates(hanging, &u);
  atomic_store(&came_back, true);
  return NULL;
}

/* The thread hangs for an hour and is left to it; were the lock held meanwhile, the calls here would not come back. */
static void a_hanging_call_holds_nobody_else_up(void) {
  nvmlUtilization_t u;
  pthread_t thread;
  OK(n.nvmlInit_v2());
  CHECK_EQ(pthread_barrier_init(&both_run, NULL, 2), 0, "barrier");
  CHECK_EQ(pthread_create(&thread, NULL, ask_hanging_card, device(1)), 0, "thread");
  (void)pthread_barrier_wait(&both_run);
  for (int i = 0; i < 2000; i++) {
    OK(n.nvmlDeviceGetUtilizationRates(device(0), &u));
    (void)sched_yield();
  }
  CHECK(!atomic_load(&came_back), "the call on card 1 did not hang");
}

static void mig_devices_are_devices_of_their_own(void) {
  nvmlDevice_t mig = NULL, parent = NULL;
  nvmlDeviceAttributes_t a;
  nvmlMemory_t m;
  nvmlUtilization_t u;
  nvmlEventData_t e;
  unsigned x = 99, y = 99;
  char text[96];
  OK(n.nvmlInit_v2());
  OK(n.nvmlDeviceGetMigMode(device(0), &x, &y));
  CHECK_EQ(x + y, 2, "mode and pending mode");
  OK(n.nvmlDeviceGetMaxMigDeviceCount(device(0), &x));
  CHECK_EQ(x, 7, "slices");
  CHECK_EQ(n.nvmlDeviceGetMigDeviceHandleByIndex(device(0), 1, &mig), NVML_ERROR_NOT_FOUND, "a hole");
  CHECK_EQ(n.nvmlDeviceGetMigDeviceHandleByIndex(device(0), 7, &mig), NVML_ERROR_INVALID_ARGUMENT, "beyond");
  OK(n.nvmlDeviceGetMigDeviceHandleByIndex(device(0), 2, &mig));
  OK(n.nvmlDeviceIsMigDeviceHandle(mig, &x));
  CHECK_EQ(x, 1, "is one");
  OK(n.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(mig, &parent));
  CHECK(parent == device(0), "parent");
  OK(n.nvmlDeviceGetName(mig, text, sizeof text));
  CHECK(strcmp(text, "X MIG 2g.10gb") == 0, "%s", text);
  OK(n.nvmlDeviceGetUUID(mig, text, sizeof text));
  CHECK(strcmp(text, "MIG-00000000-0000-0000-0000-000000000002") == 0, "%s", text);
  OK(n.nvmlDeviceGetHandleByUUID(text, &parent));
  CHECK(parent == mig, "by UUID");
  OK(n.nvmlDeviceGetGpuInstanceId(mig, &x));
  OK(n.nvmlDeviceGetComputeInstanceId(mig, &y));
  CHECK_EQ(x * 10 + y, 30, "instances");
  OK(n.nvmlDeviceGetAttributes_v2(mig, &a));
  CHECK_EQ(a.multiprocessorCount, 28, "multiprocessors");
  CHECK_EQ(a.memorySizeMB, 9856, "MiB");
  CHECK_EQ(a.gpuInstanceSliceCount * 100 + a.computeInstanceSliceCount * 10 + a.sharedCopyEngineCount, 222,
           "slices and engines");
  CHECK_EQ(n.nvmlDeviceGetAttributes_v2(device(0), &a), NVML_ERROR_NOT_SUPPORTED, "only of MIG devices");
  OK(n.nvmlDeviceGetMemoryInfo(mig, &m));
  CHECK_EQ(m.total - m.used, (9856ull - 100) << 20, "memory of the slice");
  CHECK_EQ(n.nvmlDeviceGetUtilizationRates(device(0), &u), NVML_ERROR_NOT_SUPPORTED, "no rates with MIG on");
  CHECK_EQ(n.nvmlDeviceGetMinorNumber(mig, &x), NVML_ERROR_NOT_SUPPORTED, "a question about the card");
  nvmlEventSet_t set = watch(0, nvmlEventTypeXidCriticalError);
  tell("xid 0 code=94 mig=2\n");
  OK(n.nvmlEventSetWait_v2(set, &e, 5000));
  CHECK(e.device == device(0), "events name the card");
  CHECK_EQ(e.gpuInstanceId * 10 + e.computeInstanceId, 30, "and the instances");
}

static void links_between_cards_show_their_peers(void) {
  nvmlIntNvLinkDeviceType_t type;
  nvmlPciInfo_t pci;
  nvmlEnableState_t state;
  OK(n.nvmlInit_v2());
  for (unsigned link = 0; link < 4; link++) {
    OK(n.nvmlDeviceGetNvLinkRemotePciInfo_v2(device(0), link, &pci));
    CHECK(strcmp(pci.busId, "00000000:02:00.0") == 0, "%s", pci.busId);
    OK(n.nvmlDeviceGetNvLinkRemoteDeviceType(device(1), link, &type));
    CHECK_EQ(type, NVML_NVLINK_DEVICE_TYPE_GPU, "far end");
  }
  CHECK_EQ(n.nvmlDeviceGetNvLinkState(device(0), 4, &state), NVML_ERROR_INVALID_ARGUMENT, "no fifth");
}

static void initialisations_are_counted(void) {
  unsigned count = 0;
  OK(n.nvmlInit_v2());
  OK(n.nvmlInitWithFlags(NVML_INIT_FLAG_NO_GPUS));
  CHECK_EQ(n.nvmlInitWithFlags(128), NVML_ERROR_INVALID_ARGUMENT, "unknown flag");
  OK(n.nvmlShutdown());
  OK(n.nvmlDeviceGetCount_v2(&count));
  OK(n.nvmlShutdown());
  CHECK_EQ(n.nvmlDeviceGetCount_v2(&count), NVML_ERROR_UNINITIALIZED, "after the last");
  OK(n.nvmlInit_v2());
  OK(n.nvmlDeviceGetCount_v2(&count));
  CHECK_EQ(count, 2, "read again");
}

static void a_node_without_cards_starts_only_when_told(void) {
  unsigned count = 9;
  CHECK_EQ(n.nvmlInit_v2(), NVML_ERROR_GPU_NOT_FOUND, "no card");
  OK(n.nvmlInitWithFlags(NVML_INIT_FLAG_NO_GPUS));
  OK(n.nvmlDeviceGetCount_v2(&count));
  CHECK_EQ(count, 0, "devices");
}

static void a_bad_profile_fails_initialisation(void) { CHECK_EQ(n.nvmlInit_v2(), NVML_ERROR_UNKNOWN, "bad profile"); }

static void *hammer(void *unused) {
  (void)unused;
  for (int i = 0; i < 2000; i++) {
    nvmlMemory_t m;
    nvmlEventSet_t set = NULL;
    nvmlEventData_t e;
    if (n.nvmlInit_v2() != NVML_SUCCESS) return "init";
    nvmlDevice_t d = NULL;
    if (n.nvmlDeviceGetHandleByIndex_v2((unsigned)i % 2, &d) != NVML_SUCCESS) return "handle";
    if (n.nvmlDeviceGetMemoryInfo(d, &m) != NVML_SUCCESS || m.total != 10ull << 30) return "memory";
    if (n.nvmlEventSetCreate(&set) != NVML_SUCCESS) return "set";
    if (n.nvmlDeviceRegisterEvents(d, nvmlEventTypeXidCriticalError, set) != NVML_SUCCESS) return "register";
    if (n.nvmlEventSetWait_v2(set, &e, 0) != NVML_ERROR_TIMEOUT) return "wait";
    if (n.nvmlEventSetFree(set) != NVML_SUCCESS) return "free";
    if (n.nvmlShutdown() != NVML_SUCCESS) return "shutdown";
  }
  return NULL;
}

static void threads_do_not_disturb_each_other(void) {
  pthread_t threads[8];
  OK(n.nvmlInit_v2());
  for (int i = 0; i < 8; i++) CHECK_EQ(pthread_create(&threads[i], NULL, hammer, NULL), 0, "thread");
  for (int i = 0; i < 8; i++) {
    void *failed = NULL;
    (void)pthread_join(threads[i], &failed);
    CHECK(failed == NULL, "%s", (const char *)failed);
  }
}

static const struct {
  const char *name;
  void (*run)(void);
  const char *profile;
  double started; /* seconds ago; 0: at the first initialisation */
} CASES[] = {
    {"loads", loads_and_processes_follow_time,
     SYSTEM CARD0 CARD1 "load 0 at=200 util=99\nload 0 at=50.5 util=80 mem-util=40 used=2GiB\nload 0 util=10\n"
                        "process 1 pid=11 used=1GiB until=99\nprocess 1 pid=12 used=512MiB at=20 until=2000\n"
                        "process 1 pid=13 used=unknown\nprocess 1 pid=14 used=1GiB at=1000\n",
     100},
    {"events", an_event_reaches_those_who_asked_before_it, SYSTEM CARD0 CARD1 "xid 0 code=31 at=5\n", 100},
    {"wait", a_wait_ends_when_the_event_comes, SYSTEM CARD0 CARD1, 0},
    {"lost", a_lost_card_is_lost_everywhere, SYSTEM CARD0 CARD1, 0},
    {"failures", failures_hit_the_calls_they_name,
     SYSTEM CARD0 CARD1
     "fail nvmlInit_v2 code=DRIVER_NOT_LOADED count=1\nfail nvmlDeviceGetUtilizationRates code=UNKNOWN from=2 count=2\n"
     "fail nvmlDeviceGetMemoryInfo code=NO_PERMISSION device=1\n",
     0},
    {"hang", a_hanging_call_holds_nobody_else_up, SYSTEM CARD0 CARD1 "hang nvmlDeviceGetUtilizationRates ms=3600000 device=1\n",
     0},
    {"mig", mig_devices_are_devices_of_their_own, SYSTEM CARDM MIG0 MIG2 "process 0 pid=5 used=100MiB mig=2\n", 0},
    {"peers", links_between_cards_show_their_peers, SYSTEM CARD0 CARD1 "nvlink 1 0 count=4\n", 0},
    {"inits", initialisations_are_counted, SYSTEM CARD0 CARD1, 0},
    {"empty", a_node_without_cards_starts_only_when_told, SYSTEM, 0},
    {"bad", a_bad_profile_fails_initialisation, SYSTEM "device 0\n", 0},
    {"threads", threads_do_not_disturb_each_other, SYSTEM CARD0 CARD1, 0},
};

static void write_file(const char *path, const char *text) {
  FILE *f = fopen(path, "we");
  CHECK(f != NULL && fputs(text, f) >= 0 && fclose(f) == 0, "%s", path);
}

static int run_case(size_t i, const char *library) {
  char path[64], epoch[32];
  (void)snprintf(path, sizeof path, "%s/%s.gpus", directory, CASES[i].name);
  (void)snprintf(control, sizeof control, "%s.control", path);
  write_file(path, CASES[i].profile);
  (void)setenv("FAKE_GPUS", path, 1);
  (void)snprintf(epoch, sizeof epoch, "%.9f", seconds() - CASES[i].started);
  if (CASES[i].started > 0) (void)setenv("FAKE_GPUS_EPOCH", epoch, 1);
  if (nvml_load(&n, library)) return 1;
  CASES[i].run();
  return check_result();
}

int main(int argc, char **argv) {
  size_t count = sizeof CASES / sizeof CASES[0], failed = 0;
  if (argc != 2 || mkdtemp(directory) == NULL) return 2;
  for (size_t i = 0; i < count; i++) {
    (void)printf("%s: ", CASES[i].name);
    (void)fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) exit(run_case(i, argv[1]));
    int status = -1;
    if (waitpid(pid, &status, 0) != pid || status != 0) failed++, (void)printf("FAILED (status %d)\n", status);
  }
  char clean[96];
  (void)snprintf(clean, sizeof clean, "rm -rf %s", directory);
  if (system(clean) != 0) failed++;
  (void)printf("%zu cases, %zu failed\n", count, failed);
  return failed != 0;
}
