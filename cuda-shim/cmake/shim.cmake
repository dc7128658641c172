# libvgpu-control.so: the library that goes into containers, and what checks it.

# ---- its objects -----------------------------------------------------------------------------------------------------

enable_language(ASM)
set(shim_modules alias array_size devices driver entry environment exports hooks_array hooks_context hooks_graph hooks_host
  hooks_info hooks_launch hooks_memory hooks_nvml hooks_pool hooks_share hooks_start hooks_virtual ledger loader log lookup
  pace pool private_table process registration shared table)
list(TRANSFORM shim_modules PREPEND src/)
list(TRANSFORM shim_modules APPEND .c)
set(shim_flags -O2 -fno-strict-aliasing -ffunction-sections -Wno-pedantic)

# as they go into containers: no libc but two names of it, no thread-local canary, nothing that needs a start file
set(guest_flags -include ${CMAKE_SOURCE_DIR}/src/guest.h -ffreestanding -fpic -fvisibility=hidden -fno-stack-protector -fno-plt -fno-semantic-interposition
  -fno-tree-loop-distribute-patterns -fomit-frame-pointer)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  list(APPEND guest_flags -mno-outline-atomics -mbranch-protection=standard)
  set(shim_entry src/entry_aarch64.S)
else()
  list(APPEND guest_flags -fcf-protection=full)
  set(shim_entry src/entry_x86_64.S)
endif()

file(STRINGS src/hooks.def hook_rows REGEX "^(CU|NV)\\(")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS src/hooks.def)
set(control_names vgpu_control_version dlsym dlvsym)
foreach(row IN LISTS hook_rows)
  string(REGEX REPLACE "^(CU|NV)\\(([A-Za-z0-9_]+),.*" "\\2" name "${row}")
  list(APPEND control_names "${name}")
endforeach()
list(JOIN control_names ";\n    " control_exports)
# anonymous: what it shows has no version of its own, since programs ask for these names under versions of others
file(CONFIGURE OUTPUT control.map CONTENT "{\n  global:\n    ${control_exports};\n  local: *;\n};\n")
list(JOIN control_names "\n" control_lines)
file(CONFIGURE OUTPUT control.names CONTENT "${control_lines}\n")

add_library(vgpu-control SHARED src/version.c src/text.c ${shim_modules} ${shim_entry})
target_compile_definitions(vgpu-control PRIVATE VGPU_VERSION="${PROJECT_VERSION}" _GNU_SOURCE)
target_compile_options(vgpu-control PRIVATE ${shim_flags} $<$<COMPILE_LANGUAGE:C>:${guest_flags}>)
target_link_options(vgpu-control PRIVATE -nostdlib -Wl,--version-script=${CMAKE_BINARY_DIR}/control.map
  -Wl,--no-undefined -Wl,-z,now -Wl,-z,relro -Wl,-z,nodelete -Wl,-z,noexecstack -Wl,--hash-style=both
  -Wl,-Bsymbolic-functions -Wl,--gc-sections)
target_link_libraries(vgpu-control PRIVATE c)
set_property(TARGET vgpu-control APPEND PROPERTY LINK_DEPENDS ${CMAKE_BINARY_DIR}/control.map)
vgpu_as_shipped(vgpu-control)

# ---- its tests -------------------------------------------------------------------------------------------------------

function(shim_test name)
  add_test(NAME ${name} COMMAND ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS native TIMEOUT 120)
endfunction()

shim_test(abi-frozen ${CMAKE_SOURCE_DIR}/checks/abi-frozen.sh $<TARGET_FILE:abi-dump> ${CMAKE_SOURCE_DIR}/test/abi)
shim_test(cuda-headers ${CMAKE_SOURCE_DIR}/checks/cuda-headers.sh ${CMAKE_BINARY_DIR}/cuda-headers)
set_tests_properties(cuda-headers PROPERTIES LABELS "native;as-shipped" TIMEOUT 300 SKIP_RETURN_CODE 77)
shim_test(control-exports ${CMAKE_SOURCE_DIR}/checks/exports.sh $<TARGET_FILE:vgpu-control> ${CMAKE_BINARY_DIR}/control.names)
shim_test(control-guest ${CMAKE_SOURCE_DIR}/checks/guest.sh $<TARGET_FILE:vgpu-control>)
shim_test(control-preload ${CMAKE_SOURCE_DIR}/test/preload/preload.sh $<TARGET_FILE:vgpu-control> $<TARGET_FILE:static-program>)
set_property(TEST control-exports control-guest control-preload APPEND PROPERTY LABELS as-shipped)

# the product's own objects, as a test links them: the same sources, with the preset's sanitizers
add_library(shim-objects STATIC ${shim_modules})
target_compile_definitions(shim-objects PRIVATE _GNU_SOURCE)
target_compile_options(shim-objects PRIVATE ${shim_flags})
add_library(shim-model STATIC test/shim/model.c test/shim/regions.c)
target_compile_definitions(shim-model PRIVATE _GNU_SOURCE)
target_link_libraries(shim-model PUBLIC shim-objects)

function(shim_unit name source)
  add_executable(${name} test/shim/${source} ${ARGN})
  target_compile_definitions(${name} PRIVATE _GNU_SOURCE)
  target_include_directories(${name} PRIVATE test/unit)
  target_link_libraries(${name} PRIVATE shim-model)
  shim_test(${name} ${name})
endfunction()

shim_unit(shim-alias alias_test.c)
shim_unit(shim-memory memory_test.c)
shim_unit(shim-pool pool_test.c)
shim_unit(shim-process process_test.c)
shim_unit(shim-registration registration_test.c)
shim_unit(shim-table table_test.c)
shim_unit(shim-storm storm.c)
shim_unit(shim-storm-unchecked storm.c test/shim/storm_unchecked.c)
target_link_options(shim-storm-unchecked PRIVATE -Wl,--wrap=vgpu_charge)
set_tests_properties(shim-storm-unchecked PROPERTIES WILL_FAIL ON)
add_test(NAME shim-storm-64 COMMAND shim-storm 64 5 100)
set_tests_properties(shim-storm-64 PROPERTIES LABELS native TIMEOUT 120)

# ---- with the library preloaded, on the fake driver ------------------------------------------------------------------

foreach(library profiler wrapper)
  add_library(preload-${library} SHARED test/preload/${library}.c)
  target_compile_definitions(preload-${library} PRIVATE _GNU_SOURCE)
  vgpu_as_shipped(preload-${library})
endforeach()
foreach(program lookup wrapped runtime)
  add_executable(preload-${program} test/preload/${program}_program.c)
  target_compile_definitions(preload-${program} PRIVATE _GNU_SOURCE)
  vgpu_as_shipped(preload-${program})
endforeach()
shim_test(control-lookup ${CMAKE_SOURCE_DIR}/test/unit/on_cards.sh lookup ${CMAKE_SOURCE_DIR}/test/preload/lookup.sh
  $<TARGET_FILE:vgpu-control> $<TARGET_FILE:preload-lookup> $<TARGET_FILE:preload-profiler>
  $<TARGET_FILE:preload-wrapped> $<TARGET_FILE:preload-wrapper> ${CMAKE_BINARY_DIR}/fake)
set_property(TEST control-lookup APPEND PROPERTY LABELS as-shipped)

add_executable(preload-make-limits test/preload/make_limits.c)
add_executable(preload-limited test/preload/limited_program.c)
foreach(program preload-make-limits preload-limited)
  target_compile_definitions(${program} PRIVATE _GNU_SOURCE)
  vgpu_as_shipped(${program})
endforeach()
target_link_libraries(preload-limited PRIVATE fake-cuda fake-nvml)
shim_test(control-limited ${CMAKE_SOURCE_DIR}/test/unit/on_cards.sh limited ${CMAKE_SOURCE_DIR}/test/preload/limited.sh
  $<TARGET_FILE:vgpu-control> $<TARGET_FILE:preload-limited> $<TARGET_FILE:preload-make-limits>
  $<TARGET_FILE:fake-gpu> ${CMAKE_BINARY_DIR}/fake)
set_property(TEST control-limited APPEND PROPERTY LABELS as-shipped)

# ---- the other processor ---------------------------------------------------------------------------------------------

if(NOT CMAKE_CROSSCOMPILING AND NOT VGPU_SANITIZE)
  shim_test(control-aarch64 ${CMAKE_SOURCE_DIR}/checks/aarch64.sh ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/aarch64)
  set_tests_properties(control-aarch64 PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77 LABELS "native;as-shipped")
endif()

# ---- another glibc than this machine's -------------------------------------------------------------------------------

if(NOT CMAKE_CROSSCOMPILING AND NOT VGPU_SANITIZE AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  shim_test(control-glibc-2.41 ${CMAKE_SOURCE_DIR}/test/glibc/run_on_glibc.sh 2.41 ${CMAKE_BINARY_DIR})
  set_tests_properties(control-glibc-2.41 PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77 LABELS "native;as-shipped")
endif()

shim_test(coverage-page ${CMAKE_SOURCE_DIR}/checks/coverage.sh ${CMAKE_SOURCE_DIR}/../docs/cuda-coverage.md)
shim_test(control-container ${CMAKE_SOURCE_DIR}/test/unit/on_cards.sh container ${CMAKE_SOURCE_DIR}/test/preload/container.sh
  $<TARGET_FILE:vgpu-control> $<TARGET_FILE:preload-limited> $<TARGET_FILE:preload-make-limits> $<TARGET_FILE:static-program>
  ${CMAKE_BINARY_DIR}/fake)
set_tests_properties(control-container PROPERTIES SKIP_RETURN_CODE 77 LABELS "native;as-shipped")
shim_test(control-storm ${CMAKE_SOURCE_DIR}/test/unit/on_cards.sh storm ${CMAKE_SOURCE_DIR}/test/preload/storm.sh
  $<TARGET_FILE:vgpu-control> $<TARGET_FILE:preload-limited> $<TARGET_FILE:preload-make-limits> $<TARGET_FILE:fake-gpu>
  ${CMAKE_BINARY_DIR}/fake)
set_property(TEST control-storm APPEND PROPERTY LABELS as-shipped)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  shim_test(control-runtime ${CMAKE_SOURCE_DIR}/test/unit/on_cards.sh runtime ${CMAKE_SOURCE_DIR}/test/preload/runtime.sh
    $<TARGET_FILE:vgpu-control> $<TARGET_FILE:preload-runtime> ${CMAKE_BINARY_DIR}/fake)
  set_tests_properties(control-runtime PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77 LABELS "native;as-shipped")
endif()
