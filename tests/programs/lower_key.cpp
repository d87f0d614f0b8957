// Reads the words of a key from standard input, one number a line, and prints the key, its plan and its source: the
// lowerer has no other input.
#include <cstdint>
#include <exception>
#include <iostream>
#include <vector>

#include "codegen/plan/schedule.hpp"

int main() {
    std::vector<std::uint32_t> words;
    for (std::uint32_t w; std::cin >> w;) words.push_back(w);
    try {
        const ingot::codegen::key k = ingot::codegen::decode(words);
        const ingot::codegen::plan p = ingot::codegen::make_plan(k);
        std::cout << describe(k) << '\n' << describe(p) << p.source;
    } catch (const std::exception& e) {
        std::cerr << e.what() << '\n';
        return 1;
    }
}
