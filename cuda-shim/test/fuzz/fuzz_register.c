/*
 * Whatever is answered to a registration, in one piece or many, cut short or too long: the process goes on, and believes
 * only the two answers that there are.
 */
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "registration.h"
#include "sys.h"

const char *vgpu_config_root = "/nonexistent";

static uint64_t accepted;

static uint64_t block(struct fuzz *f) {
  static const struct vgpu_register_request request = {.magic = VGPU_REGISTER_MAGIC, .major = VGPU_ABI_MAJOR};
  struct vgpu_register_reply reply = {VGPU_REGISTER_MAGIC, fuzz_below(f, 2) == 0 ? VGPU_REGISTER_OK : VGPU_REGISTER_REFUSED};
  unsigned char bytes[2 * sizeof reply];
  memcpy(bytes, &reply, sizeof reply);
  memcpy(bytes + sizeof reply, &reply, sizeof reply);
  if (fuzz_below(f, 4) != 0) fuzz_mutate(f, bytes, sizeof bytes);
  size_t length = fuzz_below(f, 4) == 0 ? fuzz_below(f, sizeof bytes + 1) : sizeof reply;
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) != 0) exit(2);
  for (size_t sent = 0; sent < length;) {
    size_t piece = 1 + fuzz_below(f, length - sent);
    if (write(pair[1], bytes + sent, piece) != (ssize_t)piece) exit(2);
    sent += piece;
  }
  bool hung_up = fuzz_below(f, 8) == 0;
  if (hung_up) {
    (void)close(pair[1]);
  } else {
    (void)shutdown(pair[1], SHUT_WR); /* else a short answer would be waited for */
  }
  enum vgpu_registered got = vgpu_register_on(pair[0], &request, sys_monotonic_ns() + 10 * (int64_t)1000000000);
  memcpy(&reply, bytes, sizeof reply);
  bool whole = !hung_up && length >= sizeof reply && reply.magic == VGPU_REGISTER_MAGIC;
  enum vgpu_registered expected = hung_up || length < sizeof reply                 ? VGPU_REGISTRATION_NONE
                                  : whole && reply.status == VGPU_REGISTER_OK      ? VGPU_REGISTERED
                                  : whole && reply.status == VGPU_REGISTER_REFUSED ? VGPU_REGISTRATION_REFUSED
                                                                                   : VGPU_REGISTRATION_RUBBISH;
  if (got != expected) fuzz_wrong("an answer was taken for another");
  if (got == VGPU_REGISTERED) accepted++;
  (void)close(pair[0]);
  if (!hung_up) (void)close(pair[1]);
  return 1;
}

static const char *wrong(uint64_t rounds) { return accepted > 0 && accepted < rounds ? NULL : "all accepted, or none"; }

int main(int argc, char **argv) {
  return fuzz_main(argc, argv, &(struct fuzz_target){.rounds = 60000, .block = block, .wrong = wrong});
}
