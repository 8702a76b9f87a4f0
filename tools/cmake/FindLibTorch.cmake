# LibTorch out of the PyPI wheel in .venv, or of a prefix in CMAKE_PREFIX_PATH (an unpacked libtorch archive). The wheel's
# own CMake config insists on CUDA, so its CPU libraries are linked directly; libtorch_cuda is added when it can load.
# Gives LibTorch::torch and LIBTORCH_VERSION.
file(GLOB _torch_roots ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch)
find_path(LIBTORCH_INCLUDE_DIR torch/csrc/api/include/torch/torch.h PATHS ${_torch_roots} PATH_SUFFIXES include)
find_library(LIBTORCH_CPU_LIBRARY torch_cpu PATHS ${_torch_roots} PATH_SUFFIXES lib)
find_library(LIBTORCH_C10_LIBRARY c10 PATHS ${_torch_roots} PATH_SUFFIXES lib)
set(LIBTORCH_VERSION "")
foreach(_header torch/headeronly/version.h torch/csrc/api/include/torch/version.h)  # 2.9 and later, and earlier
  if(NOT LIBTORCH_VERSION AND EXISTS "${LIBTORCH_INCLUDE_DIR}/${_header}")
    foreach(_part MAJOR MINOR PATCH)
      file(STRINGS "${LIBTORCH_INCLUDE_DIR}/${_header}" _line REGEX "define TORCH_VERSION_${_part} [0-9]+")
      string(REGEX MATCH "[0-9]+$" _number "${_line}")
      list(APPEND _numbers "${_number}")
    endforeach()
    string(REPLACE ";" "." LIBTORCH_VERSION "${_numbers}")
  endif()
endforeach()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch REQUIRED_VARS LIBTORCH_CPU_LIBRARY LIBTORCH_C10_LIBRARY LIBTORCH_INCLUDE_DIR
  VERSION_VAR LIBTORCH_VERSION
  REASON_FAILURE_MESSAGE "run tools/setup, or configure with --preset core to build without it")
if(LibTorch_FOUND AND NOT TARGET LibTorch::torch)
  add_library(LibTorch::torch INTERFACE IMPORTED)
  target_include_directories(LibTorch::torch SYSTEM INTERFACE ${LIBTORCH_INCLUDE_DIR}
    ${LIBTORCH_INCLUDE_DIR}/torch/csrc/api/include)
  target_link_libraries(LibTorch::torch INTERFACE ${LIBTORCH_CPU_LIBRARY} ${LIBTORCH_C10_LIBRARY})
  # The wheel finds its CUDA runtime by RPATH at run time; the linker need not see it.
  target_link_options(LibTorch::torch INTERFACE -Wl,--unresolved-symbols=ignore-in-shared-libs)
endif()
