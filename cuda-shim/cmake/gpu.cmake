# The tests that need a GPU (label gpu; without one each says so and is skipped), and what of them the fake card can show.

set(gpu_folder ${CMAKE_SOURCE_DIR}/test/gpu)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${gpu_folder}/gpu_tests.py)
file(STRINGS ${gpu_folder}/gpu_tests.py gpu_rows REGEX "^    \"[a-z-]+\": \\(\\[")
foreach(row IN LISTS gpu_rows)
  string(REGEX REPLACE "^    \"([a-z-]+)\".*" "\\1" name "${row}")
  add_test(NAME gpu-${name} COMMAND ${gpu_folder}/run_gpu_tests.sh ${CMAKE_BINARY_DIR} --only ${name})
  set_tests_properties(gpu-${name} PROPERTIES LABELS "native;gpu;as-shipped" TIMEOUT 400 SKIP_RETURN_CODE 77 RUN_SERIAL ON)
endforeach()
add_test(NAME gpu-tests-on-fake COMMAND ${gpu_folder}/on_fake.sh ${CMAKE_BINARY_DIR}
  ${CMAKE_SOURCE_DIR}/../deploy/e2e/profiles/8xH200.gpus)
set_tests_properties(gpu-tests-on-fake PROPERTIES LABELS "native;as-shipped" TIMEOUT 240)
