# ingot_embed(FILES...): puts texts that Ingot compiles when a program runs, such as kernels, into C++. For each file this
# makes a header FILE.hpp in the folder `embedded` of the build, with the text as the constant ingot::embedded::STEM. The
# comment of // lines at a file's top and the blank lines behind it are no part of the text. A file of several texts begins
# each, behind a blank line, with a line `//// NAME needs ...`: the text is ingot::embedded::NAME, and the // lines behind
# that line are no part of it. An edited file is embedded again by the next build.
function(ingot_embed)
    foreach(file IN LISTS ARGN)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${file}")
        file(READ "${PROJECT_SOURCE_DIR}/${file}" text)
        set(heading "//// ([A-Za-z0-9_]+)[^\n]*\n(// [^\n]*\n)*")
        string(REGEX MATCH "^(//( [^\n]*)?\n)+\n*(${heading})?" comment "${text}")
        cmake_path(GET file STEM name)
        if(CMAKE_MATCH_4)
            set(name "${CMAKE_MATCH_4}")
        endif()
        string(LENGTH "${comment}" length)
        string(SUBSTRING "${text}" ${length} -1 text)
        set(next "\n)ingot\";\n\ninline constexpr std::string_view \\1 = R\"ingot(")
        string(REGEX REPLACE "\n\n${heading}" "${next}" text "${text}")
        file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/embedded/${file}.hpp" @ONLY CONTENT [[
// Made by cmake/embed.cmake of @file@.
#pragma once

#include <string_view>

namespace ingot::embedded {

inline constexpr std::string_view @name@ = R"ingot(@text@)ingot";

}  // namespace ingot::embedded
]])
    endforeach()
endfunction()
