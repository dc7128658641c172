# The benchmarks: programs for a machine with a card (make bench-shim). They need no CUDA headers and no nvcc.
add_executable(bench-work bench/bench_work.c bench/gpu.c bench/symbol.c)
add_executable(bench-cost bench/bench_cost.c bench/paired.c bench/gpu.c bench/symbol.c)
# around CUDA: needs no card
add_executable(bench-around bench/bench_around.c bench/paired.c bench/gpu.c bench/symbol.c)
add_executable(gpu-probe bench/gpu_probe.c bench/gpu.c bench/symbol.c)
target_link_libraries(gpu-probe PRIVATE ${CMAKE_DL_LIBS})
target_link_libraries(bench-work PRIVATE ${CMAKE_DL_LIBS})
target_link_libraries(bench-cost PRIVATE ${CMAKE_DL_LIBS} m)
target_link_libraries(bench-around PRIVATE ${CMAKE_DL_LIBS} m)
foreach(program bench-around bench-cost)
  vgpu_as_shipped(${program})
endforeach()

# the costs that can be measured without a card (make bench-shim-cpu)
add_test(NAME bench-shim-cpu COMMAND python3 ${CMAKE_SOURCE_DIR}/bench/bench_shim_cpu.py --binaries ${CMAKE_BINARY_DIR}
  --out ${CMAKE_BINARY_DIR}/shim-cpu.json)
set_tests_properties(bench-shim-cpu PROPERTIES LABELS "native;as-shipped" TIMEOUT 240 RUN_SERIAL ON)
