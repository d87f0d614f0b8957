// Statements that a thread evaluated recently and that the contiguous fast path (contiguous_fast_path.cpp) does not
// take. A repeated statement is compared with everything its classes, extents and strides were computed from; on a
// match none of them is computed again.
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

/// Everything that decides a statement's key, its numbers, and whether it can run in place: (1) its program, device and
/// attributes; (2) shape, strides and alignment of operands and outputs; (3) which operands have one origin; (4)
/// distances between operands and outputs in one memory; (5) where relations are wanted, distances between operands in
/// one memory. Any other fact that the classifier reads must be added here.
class call_signature {
public:
    /// Returns false where the statement does not fit, or the slot has no program yet.
    bool take(const slot& cache, const statement&, const execution_context&);
    std::uint64_t hash() const noexcept;
    bool operator==(const call_signature&) const noexcept;

private:
    static constexpr std::size_t most_words = 64, most_operands = 8;
    std::uint64_t words_[most_words];
    std::size_t count_ = 0;  // even
};

/// One for each thread. A set holds the two latest statements with its hash.
class dispatch_cache {
public:
    struct entry {
        call_signature of;
        const executable* found = nullptr;  // null: the result is computed in new memory, then copied
        classified classes;
        std::vector<cached_launch> launches;  // empty until the statement is repeated
    };

    /// Null where there is none. The entry is valid until the next call of `insert`.
    entry* find(const call_signature&) noexcept;
    void insert(const call_signature&, const executable&, const classified&);
    void insert_buffered(const call_signature&);

private:
    static constexpr int set_bits = 7;
    using ways = std::array<std::unique_ptr<entry>, 2>;

    entry& new_entry(const call_signature&);
    ways& set_of(const call_signature& a) noexcept { return sets_[a.hash() >> (64 - set_bits)]; }

    std::array<ways, std::size_t{1} << set_bits> sets_;
};

}  // namespace ingot::runtime
