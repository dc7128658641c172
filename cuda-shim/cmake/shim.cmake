# libvgpu-control.so: the library that goes into containers, and what checks it.

add_test(NAME cuda-headers COMMAND ${CMAKE_SOURCE_DIR}/checks/cuda-headers.sh ${CMAKE_BINARY_DIR}/cuda-headers)
set_tests_properties(cuda-headers PROPERTIES LABELS "native;as-shipped" TIMEOUT 300 SKIP_RETURN_CODE 77)
