// The report of a test case that lacks something it needs, so that it is not counted as passed.
#pragma once

#include <string_view>

namespace ingot::test {

/// Called by a test case: `if (!runtime::nvrtc_path()) return untested("NVRTC is not here");`. At the end main prints
/// these, and tests/count.py counts them.
void untested(std::string_view why);
/// Called by a case that leaves something out: this is printed, and the case otherwise counted as usual.
void untested_part(std::string_view why);

}  // namespace ingot::test
