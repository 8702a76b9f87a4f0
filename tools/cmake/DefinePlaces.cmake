# berth_define_places(sources...): BERTH_SOURCE_DIR and BERTH_BINARY for those sources that name them, and for no other, so
# that everything else compiles to the same objects in every checkout (ccache).
function(berth_define_places)
  foreach(source ${ARGN})
    file(STRINGS ${source} uses REGEX "BERTH_SOURCE_DIR|BERTH_BINARY" LIMIT_COUNT 1)
    if(uses)
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS BERTH_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
        BERTH_BINARY="$<TARGET_FILE:berth>")
    endif()
  endforeach()
endfunction()
