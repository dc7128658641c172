# The fake libcuda.so.1 over the shared fake cards, its tool and its tests. What it exports: hooks.def, and extra.def for
# the rest of the driver's interface that programs need.

file(STRINGS src/hooks.def cuda_rows REGEX "^CU\\(")
file(STRINGS test/fake/cuda/extra.def extra_rows REGEX "^EX\\(")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS src/hooks.def test/fake/cuda/extra.def)
set(cuda_names fakeCudaCalls) # for tests: calls counted
foreach(row IN LISTS cuda_rows extra_rows)
  string(REGEX REPLACE "^[A-Z]+\\(([A-Za-z0-9_]+),.*" "\\1" name "${row}")
  list(APPEND cuda_names "${name}")
endforeach()
list(REMOVE_DUPLICATES cuda_names)
list(JOIN cuda_names ";\n    " cuda_exports)
file(CONFIGURE OUTPUT cuda.map CONTENT "{\n  global:\n    ${cuda_exports};\n  local: *;\n};\n")
list(JOIN cuda_names "\n" cuda_lines)
file(CONFIGURE OUTPUT cuda.names CONTENT "${cuda_lines}\n")

set(gpu_sources gpu_read gpu_lock gpu_own gpu_schedule)
list(TRANSFORM gpu_sources PREPEND test/fake/gpu/)
list(TRANSFORM gpu_sources APPEND .c)
set(cuda_sources driver calls stubs device errors lane context context_more stream later event memory pool ordered
  module library launch capture graph nodes move copy array vmm external pointer proc mps)
list(TRANSFORM cuda_sources PREPEND test/fake/cuda/)
list(TRANSFORM cuda_sources APPEND .c)

add_library(fake-cuda SHARED ${cuda_sources} ${gpu_sources}
  test/fake/codes.c test/fake/line.c test/fake/profile.c test/fake/profile_file.c)
target_include_directories(fake-cuda PRIVATE test/fake)
target_compile_definitions(fake-cuda PRIVATE _DEFAULT_SOURCE)
# -Bsymbolic: the table of addresses must hold our own functions whatever a preloaded library defines.
target_link_options(fake-cuda PRIVATE -Wl,--version-script=${CMAKE_BINARY_DIR}/cuda.map -Wl,--no-undefined -Wl,-z,now
  -Wl,-Bsymbolic -Wl,-z,nodelete) # the thread for host functions must not lose its code to a dlclose
target_link_libraries(fake-cuda PRIVATE pthread)
set_property(TARGET fake-cuda APPEND PROPERTY LINK_DEPENDS ${CMAKE_BINARY_DIR}/cuda.map)
set_target_properties(fake-cuda PROPERTIES OUTPUT_NAME cuda SUFFIX .so.1 C_VISIBILITY_PRESET default
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fake LINK_FLAGS "-Wl,-soname,libcuda.so.1" NO_SONAME ON)

# The same with sanitizers, to be linked into tests.
set(cuda_sanitize "")
if(NOT VGPU_SANITIZE)
  set(cuda_sanitize -fsanitize=address,undefined -fno-sanitize-recover=all)
endif()
add_library(fake-cuda-checked OBJECT ${cuda_sources} ${gpu_sources}
  test/fake/codes.c test/fake/line.c test/fake/profile.c test/fake/profile_file.c)
target_include_directories(fake-cuda-checked PRIVATE test/fake)
target_compile_definitions(fake-cuda-checked PRIVATE _DEFAULT_SOURCE)
target_compile_options(fake-cuda-checked PRIVATE ${cuda_sanitize})

# Looks at the shared cards from outside.
add_executable(fake-gpu test/fake/gpu/fake_gpu.c test/fake/gpu/gpu_read.c)
target_include_directories(fake-gpu PRIVATE test/fake)
target_compile_definitions(fake-gpu PRIVATE _DEFAULT_SOURCE)
if(NOT VGPU_SANITIZE)
  target_link_options(fake-gpu PRIVATE -static)
endif()

# ---- tests -----------------------------------------------------------------------------------------------------------

# NAME runs on the library, NAME-checked with sanitizers and the driver linked in.
function(vgpu_cuda_test name)
  add_executable(${name} test/unit/${ARGN})
  add_executable(${name}-checked test/unit/${ARGN} $<TARGET_OBJECTS:fake-cuda-checked>)
  target_link_libraries(${name} PRIVATE fake-cuda)
  target_compile_options(${name}-checked PRIVATE ${cuda_sanitize})
  target_link_options(${name}-checked PRIVATE ${cuda_sanitize})
  foreach(program ${name} ${name}-checked)
    target_compile_definitions(${program} PRIVATE _DEFAULT_SOURCE)
    target_include_directories(${program} PRIVATE test/unit test/fake test/fake/cuda)
    add_test(NAME ${program} COMMAND ${CMAKE_SOURCE_DIR}/test/unit/on_cards.sh ${program} $<TARGET_FILE:${program}>)
    set_tests_properties(${program} PROPERTIES LABELS native TIMEOUT 60)
  endforeach()
endfunction()

vgpu_cuda_test(cuda-start-test cuda_start_test.c)
vgpu_cuda_test(cuda-memory-test cuda_memory_test.c)
vgpu_cuda_test(cuda-stream-test cuda_stream_test.c)
vgpu_cuda_test(cuda-graph-test cuda_graph_test.c)
add_executable(cuda-cards-test test/unit/cuda_cards_test.c test/fake/gpu/gpu_read.c)
target_link_libraries(cuda-cards-test PRIVATE fake-cuda)
target_compile_definitions(cuda-cards-test PRIVATE _DEFAULT_SOURCE)
target_include_directories(cuda-cards-test PRIVATE test/unit test/fake test/fake/cuda)
add_dependencies(cuda-cards-test fake-nvml)
add_test(NAME cuda-cards COMMAND ${CMAKE_SOURCE_DIR}/test/unit/on_cards.sh cuda-cards $<TARGET_FILE:cuda-cards-test>
  $<TARGET_FILE:fake-nvml>)
add_executable(cuda-storm-test test/unit/cuda_storm_test.c test/fake/gpu/gpu_read.c)
target_link_libraries(cuda-storm-test PRIVATE fake-cuda)
target_compile_definitions(cuda-storm-test PRIVATE _DEFAULT_SOURCE)
target_include_directories(cuda-storm-test PRIVATE test/unit test/fake test/fake/cuda)
add_test(NAME cuda-storm COMMAND ${CMAKE_SOURCE_DIR}/test/unit/on_cards.sh cuda-storm $<TARGET_FILE:cuda-storm-test>)
add_test(NAME fake-cuda-exports COMMAND ${CMAKE_SOURCE_DIR}/checks/exports.sh $<TARGET_FILE:fake-cuda> ${CMAKE_BINARY_DIR}/cuda.names)
set_tests_properties(cuda-cards cuda-storm fake-cuda-exports PROPERTIES LABELS native TIMEOUT 60)
add_test(NAME fake-cuda-versions COMMAND ${CMAKE_SOURCE_DIR}/checks/fake-versions.sh ${CMAKE_BINARY_DIR}/fake-versions)
set_tests_properties(fake-cuda-versions PROPERTIES LABELS native TIMEOUT 300 SKIP_RETURN_CODE 77)
