# nvcc and the part of LibTorch that is linked with CUDA, for libberth_cuda.so. nvcc: on PATH, CUDACXX, or /usr/local/cuda.
if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  find_program(BERTH_NVCC nvcc PATHS /usr/local/cuda/bin)
  if(NOT BERTH_NVCC)
    message(FATAL_ERROR "BERTH_CUDA: expected nvcc on PATH, in CUDACXX or in /usr/local/cuda/bin, found none; "
      "the other presets build without it")
  endif()
  set(CMAKE_CUDA_COMPILER ${BERTH_NVCC})
endif()
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc has it
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
endif()
find_package(CUDAToolkit REQUIRED)

cmake_path(GET LIBTORCH_CPU_LIBRARY PARENT_PATH _torch_libraries)
find_library(LIBTORCH_CUDA_LIBRARY torch_cuda HINTS ${_torch_libraries})
find_library(LIBTORCH_C10_CUDA_LIBRARY c10_cuda HINTS ${_torch_libraries})
if(NOT LIBTORCH_CUDA_LIBRARY OR NOT LIBTORCH_C10_CUDA_LIBRARY)
  message(FATAL_ERROR "BERTH_CUDA: expected libtorch_cuda.so and libc10_cuda.so in ${_torch_libraries}, found a LibTorch "
    "without CUDA; set CMAKE_PREFIX_PATH to one with it, or use another preset")
endif()
# What they need of CUDA besides the runtime (libtorch_cuda.so itself wants cuDNN, NCCL, cuSPARSELt, ...) is looked for when they
# are loaded, so that compiling and linking needs nvcc alone.
add_library(LibTorch::torch_cuda INTERFACE IMPORTED)
target_link_libraries(LibTorch::torch_cuda INTERFACE ${LIBTORCH_CUDA_LIBRARY} ${LIBTORCH_C10_CUDA_LIBRARY} LibTorch::torch)
