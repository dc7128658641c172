# The benchmarks: programs for a machine with a card (make bench-shim). They need no CUDA headers and no nvcc.
add_executable(bench-work bench/bench_work.c bench/gpu.c bench/symbol.c)
add_executable(bench-cost bench/bench_cost.c bench/gpu.c bench/symbol.c)
add_executable(gpu-probe bench/gpu_probe.c bench/gpu.c bench/symbol.c)
target_link_libraries(gpu-probe PRIVATE ${CMAKE_DL_LIBS})
target_link_libraries(bench-work PRIVATE ${CMAKE_DL_LIBS})
target_link_libraries(bench-cost PRIVATE ${CMAKE_DL_LIBS} m)
