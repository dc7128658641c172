"""The driver's interface by ctypes: found by dlsym, as every program finds it, so the library stands before it."""
import ctypes
from ctypes import byref, c_int, c_size_t, c_uint, c_uint64, c_void_p
from common import MIB, check, skip

OUT_OF_MEMORY = 2
NOT_INITIALIZED = 3

FAKE = b"vgpu-fake-kernel name=spin argument=1\n"  # the fake driver's: runs as many ns as its second argument says
PTX = b""".version 7.0
.target sm_70
.address_size 64
.visible .entry spin(.param .u64 sink, .param .u64 rounds) {
  .reg .pred %p; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [sink]; ld.param.u64 %rd2, [rounds]; mov.u64 %rd3, 0;
again: add.u64 %rd3, %rd3, 1; setp.lt.u64 %p, %rd3, %rd2; @%p bra again;
  st.global.u64 [%rd1], %rd3;
  ret;
}
"""


class Location(ctypes.Structure):
    _fields_ = [("type", c_int), ("id", c_int)]


class AllocationProperties(ctypes.Structure):
    """CUmemAllocationProp: pinned memory of device 0."""
    _fields_ = [("type", c_int), ("handle_types", c_int), ("location", Location), ("win32", c_void_p), ("flags", ctypes.c_ubyte * 8)]


class AccessDescription(ctypes.Structure):
    _fields_ = [("location", Location), ("flags", c_int)]


def load():
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError:
        skip("no GPU")


class Card:
    """Device 0 with its primary context, current."""

    def __init__(self):
        self.lib = load()
        self.call("cuInit", c_uint(0))
        self.device, self.context, self.stream = c_int(), c_void_p(), c_void_p()
        self.call("cuDeviceGet", byref(self.device), c_int(0))
        self.call("cuDevicePrimaryCtxRetain", byref(self.context), self.device)
        self.call("cuCtxSetCurrent", self.context)
        self.call("cuStreamCreate", byref(self.stream), c_uint(1))

    def status(self, name, *arguments):
        return getattr(self.lib, name)(*arguments)

    def call(self, name, *arguments):
        got = self.status(name, *arguments)
        check(got == 0, f"{name}: error {got}")

    def is_fake(self):
        return hasattr(self.lib, "fakeCudaCalls")

    def memory_info(self):
        free, total = c_size_t(), c_size_t()
        self.call("cuMemGetInfo_v2", byref(free), byref(total))
        return free.value, total.value

    def total(self):
        total = c_size_t()
        self.call("cuDeviceTotalMem_v2", byref(total), self.device)
        return total.value

    def take(self, name="cuMemAlloc_v2", piece=64 * MIB, after=(), most=64):
        """Pieces until it is refused, most of them at most: the addresses, and the error."""
        pieces = []
        while len(pieces) < most:
            address = c_uint64()
            got = self.status(name, byref(address), c_size_t(piece), *after)
            if got != 0:
                return pieces, got
            pieces.append(address)
        return pieces, 0

    def synchronize(self):
        self.call("cuStreamSynchronize", self.stream)

    def run_kernel(self, rounds=20000):
        """Runs a kernel and, on a real card, looks at what it wrote."""
        module, function, sink = c_void_p(), c_void_p(), c_uint64()
        self.call("cuModuleLoadData", byref(module), FAKE if self.is_fake() else PTX)
        self.call("cuModuleGetFunction", byref(function), module, b"spin")
        self.call("cuMemAlloc_v2", byref(sink), c_size_t(4096))
        count = c_uint64(rounds)
        arguments = (c_void_p * 2)(ctypes.addressof(sink), ctypes.addressof(count))
        one = c_uint(1)
        self.call("cuLaunchKernel", function, one, one, one, one, one, one, c_uint(0), self.stream, arguments, None)
        self.synchronize()
        wrote = c_uint64()
        self.call("cuMemcpyDtoH_v2", byref(wrote), sink, c_size_t(8))
        check(self.is_fake() or wrote.value == rounds, f"the kernel wrote {wrote.value}, not {rounds}")
        self.call("cuMemFree_v2", sink)
        self.call("cuModuleUnload", module)
