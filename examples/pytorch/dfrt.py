# Part of the dataflow project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""dfrt.h by ctypes: artifacts, plans, launches and graphs.

Needs neither PyTorch nor NumPy. A tensor is whatever `tensor()` is given: an
address, a shape and an element type; `of_torch()` takes a torch.Tensor. The
structs mirror dfrt.h; each begins with its size, so that a library that knows
more fields fills in the rest.
"""

import ctypes
import ctypes.util
from ctypes import POINTER, byref, c_char_p, c_int64, c_uint32, c_uint64, c_void_p

OK, BUSY = 0, 7
F64, F32, F16, BF16, F8E4M3FN, F8E5M2, I64, I32, I16, I8, I1 = range(11)
SECTIONS = 12


class Error(RuntimeError):
    """A call failed; the message is the library's."""


class Tensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("shape", POINTER(c_int64)), ("rank", c_uint32),
                ("element", c_uint32)]


class Capacity(ctypes.Structure):
    _fields_ = [("entries", c_uint32 * SECTIONS)]

    def include(self, other):
        """Raises this capacity to what `other` asks for."""
        for section in range(SECTIONS):
            self.entries[section] = max(self.entries[section], other.entries[section])


class PlanOptions(ctypes.Structure):
    _fields_ = [("struct_bytes", c_uint32), ("ctas", c_uint32), ("cluster_size", c_uint32),
                ("combine", c_uint32), ("shared_bytes", c_uint64), ("reserved_bytes", c_uint64),
                ("solver", c_char_p), ("transport", c_uint32), ("verify", c_uint32),
                ("predict", c_uint32), ("batch_invariant", c_uint32), ("capacity", POINTER(Capacity)),
                ("profile", c_void_p)]


class PlannerOptions(ctypes.Structure):
    _fields_ = [("struct_bytes", c_uint32), ("plans", c_uint32),
                ("plan_options", POINTER(PlanOptions))]


class LaunchShape(ctypes.Structure):
    _fields_ = [("ctas", c_uint32), ("threads", c_uint32), ("cluster_size", c_uint32),
                ("cooperative", c_uint32), ("shared_bytes", c_uint64),
                ("reserved_bytes", c_uint64), ("resident_ctas", c_uint32),
                ("reserved", c_uint32)]


class LaunchMaxima(ctypes.Structure):
    _fields_ = [("struct_bytes", c_uint32), ("flags", c_uint32), ("slot_bytes", c_uint64),
                ("collected_bytes", c_uint64), ("plan_bytes", c_uint64)]


def tensor(address, shape, element):
    """A dense row-major tensor at `address`."""
    extents = (c_int64 * max(len(shape), 1))(*shape)
    result = Tensor(address, extents, len(shape), element)
    result.extents = extents  # Keeps them alive.
    return result


def of_torch(value):
    """A torch.Tensor, which has to be contiguous. The result keeps it alive."""
    elements = {"torch.float64": F64, "torch.float32": F32, "torch.float16": F16,
                "torch.bfloat16": BF16, "torch.float8_e4m3fn": F8E4M3FN,
                "torch.float8_e5m2": F8E5M2, "torch.int64": I64, "torch.int32": I32,
                "torch.int16": I16, "torch.int8": I8, "torch.bool": I1}
    if not value.is_contiguous():
        raise Error("a tensor has to be contiguous")
    result = tensor(value.data_ptr(), tuple(value.shape), elements[str(value.dtype)])
    result.owner = value
    return result


class Library:
    """libdfrt.so."""

    def __init__(self, path=None):
        self.dll = ctypes.CDLL(path or ctypes.util.find_library("dfrt") or "libdfrt.so.1")
        self.dll.dfrt_last_error.restype = c_char_p

    def call(self, name, *arguments):
        """Calls a function that returns a status; the status is OK or BUSY."""
        status = getattr(self.dll, name)(*arguments)
        if status not in (OK, BUSY):
            raise Error(f"{name}: {self.dll.dfrt_last_error().decode()}")
        return status

    def handle(self, name, *arguments, release):
        """A handle that a function makes, released with the object."""
        made = c_void_p()
        if self.call(name, *arguments, byref(made)) == BUSY:
            raise Error(f"{name}: {self.dll.dfrt_last_error().decode()}")
        return Handle(self, made, release)

    def open_device(self, name):
        return self.handle("dfrt_device_open", name.encode(), release="dfrt_device_release")

    def load(self, path):
        return self.handle("dfrt_artifact_load_file", str(path).encode(),
                           release="dfrt_artifact_release")

    def plan_options(self, shape=None):
        """Defaults, or those of plans for a launch shape."""
        options = PlanOptions()
        self.dll.dfrt_plan_options_init_sized(byref(options), ctypes.sizeof(options))
        if shape is not None:
            self.dll.dfrt_shape_plan_options(byref(shape), byref(options))
        return options

    def plan(self, artifact, tensors, options):
        """A plan of a batch, whose plan-time tensors are in host memory."""
        return self.handle("dfrt_plan_make", artifact.value, array(tensors), len(tensors),
                           byref(options), release="dfrt_plan_release")

    def needs(self, plan):
        capacity = Capacity()
        self.call("dfrt_plan_needs", plan.value, byref(capacity))
        return capacity

    def launch(self, device, artifact, plan, tensors):
        """Runs a plan and waits. For serving, see Launcher."""
        self.call("dfrt_launch", device.value, artifact.value, plan.value, array(tensors),
                  len(tensors), None)


    def planner(self, artifact, options):
        return Planner(self, artifact, options)


class Planner:
    """Plans batch after batch; a plan is valid until the next one is made."""

    def __init__(self, library, artifact, options):
        self.library = library
        self.options = PlannerOptions()
        library.dll.dfrt_planner_options_init_sized(byref(self.options), ctypes.sizeof(self.options))
        self.options.plan_options = ctypes.pointer(options)
        self.planner = library.handle("dfrt_planner_create", artifact.value, byref(self.options),
                                      release="dfrt_planner_release")
        self.current = c_void_p()

    @property
    def value(self):
        """The plan that was made last, for whatever takes a plan."""
        return self.current

    def plan(self, tensors):
        self.library.call("dfrt_planner_plan", self.planner.value, array(tensors), len(tensors),
                          byref(self.current), None)
        return self


class Handle:
    """An object of the library."""

    def __init__(self, library, value, release):
        self.library, self.value = library, value
        self.release = getattr(library.dll, release)
        self.release.restype = None

    def __del__(self):
        self.release(self.value)


class Launcher:
    """Launches of one kernel with changing plans, in a framework's streams."""

    def __init__(self, library, device, artifact):
        self.library = library
        self.kernel = library.handle("dfrt_kernel_load", device.value, artifact.value, None,
                                     release="dfrt_kernel_release")
        self.shape = LaunchShape()
        library.call("dfrt_kernel_shape", self.kernel.value, None, byref(self.shape), None)
        self.maxima = LaunchMaxima()
        library.dll.dfrt_launch_maxima_init_sized(byref(self.maxima), ctypes.sizeof(self.maxima))
        self.launcher = None

    def include(self, plan):
        """Makes room for a plan; call it before `create`."""
        self.library.call("dfrt_launch_maxima_include", byref(self.maxima), plan.value)

    def create(self, tensors):
        """Allocates, and binds the arguments of the launches."""
        self.launcher = self.library.handle(
            "dfrt_launcher_create", self.kernel.value, byref(self.shape), byref(self.maxima),
            None, release="dfrt_launcher_release")
        self.library.call("dfrt_launcher_bind", self.launcher.value, array(tensors), len(tensors))

    def _do(self, name, *arguments):
        while self.library.call(name, self.launcher.value, *arguments) == BUSY:
            pass

    def upload(self, plan, stream):
        self._do("dfrt_launcher_upload", plan.value, c_void_p(stream))

    def launch(self, stream):
        self._do("dfrt_launcher_launch", c_void_p(stream))

    def restage(self, plan):
        """Another plan for the next replay of a captured upload and launch."""
        self._do("dfrt_launcher_restage", plan.value)

    def replayed(self, stream):
        self._do("dfrt_launcher_replayed", c_void_p(stream))

    def forget(self):
        """After the graph was destroyed."""
        self._do("dfrt_launcher_forget")


def array(tensors):
    return (Tensor * len(tensors))(*tensors)
