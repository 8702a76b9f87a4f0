# berth_define_places(sources...): BERTH_SOURCE_DIR and BERTH_BINARY for those sources that name them, and for no other, so
# that everything else compiles to the same objects in every checkout (ccache). A header cannot name them: whoever includes it
# would have to. Configured again whenever such a source changes, for it may have ceased to name them.
function(berth_define_places)
  foreach(source ${ARGN})
    file(STRINGS ${source} uses REGEX "BERTH_SOURCE_DIR|BERTH_BINARY" LIMIT_COUNT 1)
    if(uses)
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS BERTH_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
        BERTH_BINARY="$<TARGET_FILE:berth>")
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    endif()
  endforeach()
endfunction()
