# Pacing: one set of objects, which goes into libvgpu-control.so as well as into the simulator.

set(pace_modules admit bucket context cover interval launch policy settle slice thread turn)
list(TRANSFORM pace_modules PREPEND src/pace/)
list(TRANSFORM pace_modules APPEND .c)
add_library(vgpu-pace OBJECT ${pace_modules})
target_compile_definitions(vgpu-pace PRIVATE _GNU_SOURCE)
target_compile_options(vgpu-pace PRIVATE ${shim_flags} ${guest_flags} -fno-sanitize=all)
target_sources(vgpu-control PRIVATE $<TARGET_OBJECTS:vgpu-pace>)
target_sources(shim-objects PRIVATE ${pace_modules})

# ---- real processes under the library, on the fake card ---------------------------------------------------------------

add_executable(pace-tenant test/pace/tenant.c)
target_link_libraries(pace-tenant PRIVATE fake-cuda)
add_executable(pace-share test/pace/share_test.c test/pace/container.c test/fake/gpu/gpu_read.c)
foreach(program pace-tenant pace-share)
  target_compile_definitions(${program} PRIVATE _DEFAULT_SOURCE)
  target_include_directories(${program} PRIVATE test/unit test/fake test/fake/cuda)
  vgpu_as_shipped(${program})
endforeach()
foreach(case alone none two siblings balance)
  add_test(NAME pace-share-${case} COMMAND ${CMAKE_SOURCE_DIR}/test/unit/on_cards.sh pace-${case} $<TARGET_FILE:pace-share>
    $<TARGET_FILE:vgpu-control> $<TARGET_FILE:pace-tenant> ${case})
  set_tests_properties(pace-share-${case} PROPERTIES LABELS "native;as-shipped" TIMEOUT 120 RUN_SERIAL ON)
endforeach()
