// The statements that a thread has evaluated of late and that are no lines (contiguous_fast_path.cpp). One that comes
// again is compared with all that its classes, extents and strides were made from, and none of them is made anew.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/front/evaluate.hpp"
#include "runtime/front/launch.hpp"
#include "runtime/kernels/executable.hpp"

namespace ingot::runtime {

/// All that a statement's key and numbers are made from, and whether it can run in place: whose program it is, where it
/// runs, its attributes, and of operands and outputs shape, strides, alignment, which are of one origin, and how far
/// what is read lies from what is written in one memory, and where relations are asked for from what else is read in
/// it. Whatever else the classifier comes to look at has to be here
/// too.
class call_signature {
public:
    /// False where there is no room for it, or the slot knows no program yet.
    bool take(const slot& cache, const statement&, const execution_context&);
    std::uint64_t hash() const noexcept;
    bool operator==(const call_signature&) const noexcept;

private:
    static constexpr std::size_t most_words = 64, most_operands = 8;
    std::uint64_t words_[most_words];
    std::size_t count_ = 0;  // even
};

/// Of one thread. Of those whose hashes want one place the latest two stay.
class dispatch_cache {
public:
    struct entry {
        call_signature of;
        const executable* found = nullptr;  // null: it is computed elsewhere and copied to where it goes
        classified classes;
        std::vector<kept_launch> launches;  // none before it comes again
    };

    /// Null where there is none. It stands until the next call of `keep`.
    entry* find(const call_signature&) noexcept;
    void keep(const call_signature&, const executable&, const classified&);
    void keep_buffered(const call_signature&);

private:
    static constexpr int set_bits = 7;
    using ways = std::array<std::unique_ptr<entry>, 2>;

    entry& new_entry(const call_signature&);
    ways& set_of(const call_signature& a) noexcept { return sets_[a.hash() >> (64 - set_bits)]; }

    std::array<ways, std::size_t{1} << set_bits> sets_;
};

}  // namespace ingot::runtime
