# HiGHS of the PyPI wheel highsbox in .venv, or of any prefix in CMAKE_PREFIX_PATH. Its own CMake config names a lib64 that
# is not there, and its C++ symbols have the old ABI: we use the C API. Where pip builds us, it is the wheel that pip chose.
# Gives HiGHS::highs.
if(SKBUILD)
  find_package(Python REQUIRED COMPONENTS Interpreter)
  execute_process(COMMAND ${Python_EXECUTABLE} -c "import highsbox; print(highsbox.__path__[0])" OUTPUT_VARIABLE _highsbox
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(GLOB _highs_roots ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/highsbox/highs_dist)
list(PREPEND _highs_roots ${_highsbox}/highs_dist)
find_path(HIGHS_INCLUDE_DIR interfaces/highs_c_api.h PATHS ${_highs_roots} PATH_SUFFIXES include/highs include)
find_library(HIGHS_LIBRARY highs PATHS ${_highs_roots} PATH_SUFFIXES lib)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(HiGHS REQUIRED_VARS HIGHS_LIBRARY HIGHS_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "run tools/setup, which installs it into .venv")
if(HiGHS_FOUND AND NOT TARGET HiGHS::highs)
  add_library(HiGHS::highs SHARED IMPORTED)
  set_target_properties(HiGHS::highs PROPERTIES IMPORTED_LOCATION ${HIGHS_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${HIGHS_INCLUDE_DIR})
endif()
