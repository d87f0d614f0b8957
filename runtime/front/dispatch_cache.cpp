// See dispatch_cache.hpp.
#include "runtime/front/dispatch_cache.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "runtime/front/statement.hpp"

namespace ingot::runtime {

using detail::layout;
using detail::operand_kind;

namespace {

/// Whether the first element is aligned to a vector; for a random leaf, to a call of the generator.
bool is_aligned(const operand& o) {
    if (o.kind == operand_kind::generator) return o.where->offset % 4 == 0;
    return o.kind == operand_kind::array && o.memory != nullptr &&
           address_of(*o.memory, *o.where, o.type) % vector_bytes == 0;
}

/// An upper bound of the words that `take` writes.
std::size_t words_of(const statement& s, optional_key_parts optional_parts) {
    std::size_t ranks = 0, pairs = 0, texts = 0;
    for (const operand& o : s.operands) texts += o.kind == operand_kind::text;
    for (const operand& o : s.operands)
        if (o.where != nullptr) ranks += static_cast<std::size_t>(o.where->rank());
    for (const output& o : s.outputs) {
        if (!*o.memory) continue;
        ranks += static_cast<std::size_t>(o.where->rank());
        for (const operand& in : s.operands) pairs += in.memory != nullptr && share_bytes(**o.memory, *in.memory);
    }
    const std::size_t relations = optional_parts.relations ? 2 * s.operands.size() : 0;
    return 3 + s.attributes.size() + s.outputs.size() + texts + relations +
           2 * (s.operands.size() + s.outputs.size() + ranks + pairs);
}

constexpr std::uint64_t field(auto value, int bit) { return static_cast<std::uint64_t>(value) << bit; }

class word_writer {
public:
    explicit word_writer(std::uint64_t* to) : to_(to) {}

    void put(std::uint64_t word) { *to_++ = word; }
    void put(const layout& of) {
        const index_t* const numbers = of.shape();  // the shape, then the strides
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

bool call_signature::take(const slot& cache, const statement& s, const execution_context& on) {
    // A published entry is never freed, so its address identifies the slot, even if a library is loaded later.
    const slot::entry* const program = cache.entries[0].load(std::memory_order_relaxed);
    if (program == nullptr || !s.shapes.empty() || s.operands.size() > most_operands ||
        words_of(s, on.environment.optional_parts) > most_words)
        return false;
    word_writer to(words_);
    to.put(reinterpret_cast<std::uintptr_t>(program));
    const environment_class& env = on.environment;
    to.put(field(env.where, 0) | field(env.math, 8) | field(env.optional_parts.relations, 12) |
           field(env.optional_parts.indices, 13) | field(std::bit_cast<std::uint16_t>(on.stream->device), 16) |
           field(env.architecture, 32));
    for (const detail::word w : s.attributes) to.put(w);
    for (std::size_t i = 0; i < s.operands.size(); ++i) {
        const operand& o = s.operands[i];
        std::size_t origin = 0;
        while (origin < i && !have_one_origin(s.operands[origin], o)) ++origin;
        to.put(field(o.kind, 0) | field(o.type, 8) | field(o.exponent, 16) | field(is_aligned(o), 24) |
               field(origin, 32));
        if (o.where != nullptr) to.put(*o.where);
        if (o.kind == operand_kind::text) {
            to.put(o.bits[0]);  // address of a text, which is never freed
            to.put(o.bits[1]);
        }
        if (env.optional_parts.relations && o.kind == operand_kind::array) {
            std::size_t first = 0;  // the first operand in this buffer
            while (s.operands[first].memory != o.memory) ++first;
            const bool begins = first == i || s.operands[first].where == nullptr;
            to.put(first);
            to.put(begins ? 0 : static_cast<std::uint64_t>(o.where->offset - s.operands[first].where->offset));
        }
        // A pick's offset is the distance of a shift.
        if (env.optional_parts.relations && o.kind == operand_kind::pick)
            to.put(static_cast<std::uint64_t>(o.where->offset));
    }
    for (const output& o : s.outputs) {
        const bool given = bool(*o.memory);
        const bool aligned = given && address_of(**o.memory, *o.where, o.type) % vector_bytes == 0;
        to.put(field(given, 0) | field(o.type, 8) | field(aligned, 24) | field(few_places_of(s, o, env.where), 32));
        if (!given) continue;
        to.put(*o.where);
        for (std::size_t i = 0; i < s.operands.size(); ++i) {  // operands in the output's memory, and their distance
            const operand& in = s.operands[i];
            if (in.memory == nullptr || !share_bytes(**o.memory, *in.memory)) continue;
            to.put(i + 1);
            to.put(address_of(*in.memory, *in.where, in.type) - address_of(**o.memory, *o.where, o.type));
        }
        to.put(0);
    }
    count_ = static_cast<std::size_t>(to.end() - words_);
    if (count_ % 2 != 0) words_[count_++] = 0;
    return true;
}

std::uint64_t call_signature::hash() const noexcept {
    std::uint64_t h = 0;
    for (std::size_t i = 0; i < count_; i += 2)
        h = (h ^ (words_[i] + std::rotl(words_[i + 1], 32))) * 0x9e3779b97f4a7c15u;
    return h;
}

bool call_signature::operator==(const call_signature& other) const noexcept {
    return std::equal(words_, words_ + count_, other.words_, other.words_ + other.count_);
}

dispatch_cache::entry* dispatch_cache::find(const call_signature& a) noexcept {
    for (const std::unique_ptr<entry>& way : set_of(a))
        if (way != nullptr && way->of == a) return way.get();
    return nullptr;
}

dispatch_cache::entry& dispatch_cache::new_entry(const call_signature& a) {
    ways& set = set_of(a);
    std::swap(set[0], set[1]);
    if (set[0] == nullptr) set[0] = std::make_unique<entry>();
    return *set[0];
}

void dispatch_cache::insert(const call_signature& a, const executable& found, const classified& classes) {
    new_entry(a) = {a, &found, classes, {}};
}

void dispatch_cache::insert_buffered(const call_signature& a) { new_entry(a) = {a, nullptr, {}, {}}; }

}  // namespace ingot::runtime
