// The helpers of the test made from the README: std::cout is captured and compared with the output that the README
// shows.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>

#include "tests/cache/fixture.hpp"

namespace readme {

/// A folder in which the code runs, so that the files that it writes go with it.
class own_folder {
public:
    own_folder() { std::filesystem::current_path(scratch_.path()); }
    ~own_folder() { std::filesystem::current_path(before_); }

private:
    const std::filesystem::path before_ = std::filesystem::current_path();
    const ingot::test::scratch_directory scratch_;
};

/// Captures std::cout between start() and take(); doctest itself writes there in between.
class printed {
public:
    printed() = default;
    printed(const printed&) = delete;
    ~printed() { std::cout.rdbuf(console_); }

    void start() { std::cout.rdbuf(text_.rdbuf()); }
    std::string take() {
        std::cout.rdbuf(console_);
        std::string text = text_.str();
        text_.str("");
        return text;
    }

private:
    const own_folder folder_;
    std::ostringstream text_;
    std::streambuf* const console_ = std::cout.rdbuf();
};

/// Whether `text` is `shown`, where `...` stands for anything.
inline bool matches(std::string_view text, std::string_view shown) {
    const std::size_t gap = shown.find("...");
    if (gap == shown.npos) return text == shown;
    if (!text.starts_with(shown.substr(0, gap))) return false;
    for (std::size_t skipped = gap; skipped <= text.size(); ++skipped)
        if (matches(text.substr(skipped), shown.substr(gap + 3))) return true;
    return false;
}

}  // namespace readme

#define CHECK_PRINTED(text, shown)                                                                            \
    do {                                                                                                      \
        const std::string printed_text = text;                                                                \
        CHECK_MESSAGE(readme::matches(printed_text, shown), "printed:\n", printed_text, "\nshown:\n", shown); \
    } while (false)
