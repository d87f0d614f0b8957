// The statements that a thread has evaluated of late and that are no lines (classify_line.cpp). One that comes again is
// compared with all that its classes, extents and strides were made from, and none of them is made anew.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/evaluate.hpp"
#include "runtime/executable.hpp"
#include "runtime/launch.hpp"

namespace ingot::runtime {

/// All that a statement's key and numbers are made from: whose program it is, where it runs, its attributes, and of
/// operands and outputs shape, strides, alignment and which are of one origin. Whatever else the classifier comes to
/// look at has to be here too.
class appearance {
public:
    /// False where there is no room for it, the slot knows no program yet, or what is written shares bytes with what is
    /// read.
    bool take(const slot& cache, const statement&, const place&);
    std::uint64_t hash() const noexcept;
    bool operator==(const appearance&) const noexcept;

private:
    static constexpr std::size_t most_words = 64, most_operands = 8;
    std::uint64_t words_[most_words];
    std::size_t count_ = 0;  // even
};

/// Of one thread. Of those whose hashes want one place the latest two stay.
class recent_statements {
public:
    struct entry {
        appearance of;
        const executable* found = nullptr;
        classified classes;
        std::vector<kept_launch> launches;  // none before it comes again
    };

    /// Null where there is none. It stands until the next call of `keep`.
    entry* find(const appearance&) noexcept;
    void keep(const appearance&, const executable&, const classified&);

private:
    static constexpr int set_bits = 7;
    using ways = std::array<std::unique_ptr<entry>, 2>;

    ways& set_of(const appearance& a) noexcept { return sets_[a.hash() >> (64 - set_bits)]; }

    std::array<ways, std::size_t{1} << set_bits> sets_;
};

}  // namespace ingot::runtime
