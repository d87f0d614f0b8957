// The output of a command, and how often it contains a text.
#pragma once

#include <doctest/doctest.h>

#include <cstdio>
#include <sstream>
#include <string>
#include <string_view>

namespace ingot::test {

inline std::string output_of(const std::string& command) {
    FILE* const pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string text;
    for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
    CHECK_MESSAGE(pclose(pipe) == 0, command, "\n", text);
    return text;
}

inline int lines_with(const std::string& text, std::string_view part) {
    int n = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) n += line.find(part) != line.npos ? 1 : 0;
    return n;
}

}  // namespace ingot::test
