"""--memory 1024 --cores 50: a process that uses CUDA forks. The child is told that it must not, does not hang, and the parent goes on."""
import os
from ctypes import byref, c_size_t, c_uint64
from common import check, figures
from driver import NOT_INITIALIZED, Card

card = Card()
card.run_kernel()
child = os.fork()
if child == 0:
    address = c_uint64()
    got = card.status("cuMemAlloc_v2", byref(address), c_size_t(4096))
    os._exit(got if 0 < got < 200 else 0)
status = os.waitpid(child, 0)[1]
check(os.WIFEXITED(status), f"the child ended with {status}")
error = os.WEXITSTATUS(status)
check(error == NOT_INITIALIZED, f"the child got {error}, the driver's own answer is {NOT_INITIALIZED}")
child = os.fork()
if child == 0:
    os.execvp("true", ["true"])
check(os.waitpid(child, 0)[1] == 0, "fork and exec")
pieces, _ = card.take(most=2)
check(len(pieces) == 2, "the parent goes on")
card.run_kernel()
figures(child_error=error)
