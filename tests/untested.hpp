// What a test case says that cannot test for want of something, so that it is not counted as passed.
#pragma once

#include <string_view>

namespace ingot::test {

/// Of the test case that runs: `if (!runtime::nvrtc_path()) return untested("NVRTC is not here");`. In the end main
/// prints them, and tests/count.py counts them.
void untested(std::string_view why);
/// Of a case that leaves something out: that is printed, and the case counted as what it is otherwise.
void untested_part(std::string_view why);

}  // namespace ingot::test
