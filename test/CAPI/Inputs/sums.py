"""Sums ragged rows on the CPU device through examples/pytorch/dfrt.py: LIBRARY ARTIFACT."""

import ctypes
import sys

import dfrt

library = dfrt.Library(sys.argv[1])
try:
    library.load("/nowhere")
except dfrt.Error as error:
    print(error)
artifact = library.load(sys.argv[2])
device = library.open_device("cpu")
options = library.plan_options()
options.ctas = 4
planner = library.planner(artifact, options)
for lengths in ([3, 0, 700], [2, 500, 1]):
    x = (ctypes.c_float * 2100)(*(i % 5 for i in range(2100)))
    counts = (ctypes.c_int32 * 3)(*lengths)
    sums = (ctypes.c_float * 3)()
    tensors = [dfrt.tensor(ctypes.addressof(x), (3, 700), dfrt.F32),
               dfrt.tensor(ctypes.addressof(counts), (3,), dfrt.I32),
               dfrt.tensor(ctypes.addressof(sums), (3,), dfrt.F32)]
    for plan in (library.plan(artifact, tensors, options), planner.plan(tensors)):
        library.launch(device, artifact, plan, tensors)
        print(list(sums), [sum(x[700 * row:700 * row + n]) for row, n in enumerate(lengths)])
        sums[:] = [-1] * 3
