// See recent_statements.hpp.
#include "runtime/recent_statements.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace ingot::runtime {

using detail::layout;
using detail::operand_kind;

namespace {

/// Whether vectors begin where its first element lies; of a random leaf, whether a call of the generator does.
bool is_aligned(const operand& o) {
    if (o.kind == operand_kind::generator) return o.where->offset % 4 == 0;
    return o.kind == operand_kind::array && o.memory != nullptr &&
           address_of(*o.memory, *o.where, o.type) % vector_bytes == 0;
}

bool writes_what_it_reads(const statement& s) {
    for (const output& o : s.outputs)
        for (const operand& in : s.operands)
            if (*o.memory && in.memory != nullptr && share_bytes(**o.memory, *in.memory)) return true;
    return false;
}

/// No fewer than `take` writes.
std::size_t words_of(const statement& s) {
    std::size_t ranks = 0;
    for (const operand& o : s.operands)
        if (o.where != nullptr) ranks += static_cast<std::size_t>(o.where->rank());
    for (const output& o : s.outputs)
        if (*o.memory) ranks += static_cast<std::size_t>(o.where->rank());
    return 3 + s.attributes.size() + 2 * (s.operands.size() + s.outputs.size() + ranks);
}

constexpr std::uint64_t field(auto value, int bit) { return static_cast<std::uint64_t>(value) << bit; }

class word_writer {
public:
    explicit word_writer(std::uint64_t* to) : to_(to) {}

    void put(std::uint64_t word) { *to_++ = word; }
    void put(const layout& of) {
        const index_t* const numbers = of.shape();  // and strides behind
        put(static_cast<std::uint64_t>(of.rank()));
        for (int j = 0; j < of.rank(); ++j, to_ += 2) {
            to_[0] = static_cast<std::uint64_t>(numbers[2 * j]);
            to_[1] = static_cast<std::uint64_t>(numbers[2 * j + 1]);
        }
    }
    std::uint64_t* end() const { return to_; }

private:
    std::uint64_t* to_;
};

}  // namespace

bool appearance::take(const slot& cache, const statement& s, const place& on) {
    // What a slot has published is never freed: no other slot, of a library loaded later even, has it at this address.
    const slot::entry* const program = cache.entries[0].load(std::memory_order_relaxed);
    if (program == nullptr || !s.shapes.empty() || s.operands.size() > most_operands || words_of(s) > most_words ||
        writes_what_it_reads(s))
        return false;
    word_writer to(words_);
    to.put(reinterpret_cast<std::uintptr_t>(program));
    const environment_class& env = on.environment;
    to.put(field(env.where, 0) | field(env.math, 8) | field(std::bit_cast<std::uint16_t>(on.stream->device), 16) |
           field(env.architecture, 32));
    for (const detail::word w : s.attributes) to.put(w);
    for (std::size_t i = 0; i < s.operands.size(); ++i) {
        const operand& o = s.operands[i];
        std::size_t origin = 0;
        while (origin < i && !have_one_origin(s.operands[origin], o)) ++origin;
        to.put(field(o.kind, 0) | field(o.type, 8) | field(o.exponent, 16) | field(is_aligned(o), 24) |
               field(origin, 32));
        if (o.where != nullptr) to.put(*o.where);
        if (o.kind == operand_kind::text) to.put(o.bits[0]);  // the address of a text that is kept for good
    }
    for (const output& o : s.outputs) {
        const bool given = bool(*o.memory);
        const bool aligned = given && address_of(**o.memory, *o.where, o.type) % vector_bytes == 0;
        to.put(field(given, 0) | field(o.type, 8) | field(aligned, 24));
        if (given) to.put(*o.where);
    }
    count_ = static_cast<std::size_t>(to.end() - words_);
    if (count_ % 2 != 0) words_[count_++] = 0;
    return true;
}

std::uint64_t appearance::hash() const noexcept {
    std::uint64_t h = 0;
    for (std::size_t i = 0; i < count_; i += 2)
        h = (h ^ (words_[i] + std::rotl(words_[i + 1], 32))) * 0x9e3779b97f4a7c15u;
    return h;
}

bool appearance::operator==(const appearance& other) const noexcept {
    return std::equal(words_, words_ + count_, other.words_, other.words_ + other.count_);
}

recent_statements::entry* recent_statements::find(const appearance& a) noexcept {
    for (const std::unique_ptr<entry>& way : set_of(a))
        if (way != nullptr && way->of == a) return way.get();
    return nullptr;
}

void recent_statements::keep(const appearance& a, const executable& found, const classified& classes) {
    ways& set = set_of(a);
    std::swap(set[0], set[1]);
    if (set[0] == nullptr) set[0] = std::make_unique<entry>();
    *set[0] = {a, &found, classes, {}};
}

}  // namespace ingot::runtime
