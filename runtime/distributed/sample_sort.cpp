// See sample_sort.hpp.
#include "runtime/distributed/sample_sort.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "runtime/device/ordering.hpp"
#include "runtime/device/transfer.hpp"
#include "runtime/distributed/exchange.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/sorting/row_order.hpp"

namespace ingot::runtime {

using detail::word;
using detail::word_kind;

namespace {

constexpr index_t most_samples = 2048;  // of a rank

/// The bits of a value of `bytes` bytes.
template <class B>
B bits_at(const std::byte* at) {
    B bits;
    std::memcpy(&bits, at, sizeof bits);
    return bits;
}

/// Numbers of which the greater one belongs to the greater value. All NaN have the greatest; both zeros have one.
template <class B>
std::uint64_t order_of_float(B bits, B infinity) {
    constexpr B sign = static_cast<B>(B{1} << (8 * sizeof(B) - 1));
    const B magnitude = bits & static_cast<B>(~sign);
    if (magnitude > infinity) return ~std::uint64_t{0};
    const std::uint64_t middle = std::uint64_t{1} << 63;
    return (bits & sign) != 0 ? middle - magnitude : middle + magnitude;
}
std::uint64_t order_of_value(dtype type, const std::byte* at) {
    std::uint64_t order = 0;
    in_ordered_type(type, [&]<class T>(std::type_identity<T>) {
        if constexpr (std::is_integral_v<T>)
            order = static_cast<std::uint64_t>(bits_at<T>(at)) ^ std::uint64_t{std::is_signed_v<T>} << 63;
        else if constexpr (std::is_same_v<T, float16>)
            order = order_of_float<std::uint16_t>(bits_at<std::uint16_t>(at), 0x7c00);
        else if constexpr (std::is_same_v<T, bfloat16>)
            order = order_of_float<std::uint16_t>(bits_at<std::uint16_t>(at), 0x7f80);
        else if constexpr (std::is_same_v<T, float>)
            order = order_of_float<std::uint32_t>(bits_at<std::uint32_t>(at), 0x7f800000);
        else if constexpr (std::is_same_v<T, double>)
            order = order_of_float<std::uint64_t>(bits_at<std::uint64_t>(at), 0x7ff0000000000000);
    });  // has_sample_sort refuses the others
    return order;
}

/// A vector on the rank's device.
struct vector_part {
    dtype type;
    index_t count;
    buffer_ref memory;
    std::size_t bytes_of(index_t elements) const { return static_cast<std::size_t>(elements) * detail::size_of(type); }
    std::byte* at(index_t element) const { return static_cast<std::byte*>(memory->data) + bytes_of(element); }
};

class sorter {
public:
    sorter(word function, const distributed_storage& from, std::size_t axis, const placement& to, bool is_descending)
        : from_(from),
          to_(to),
          axis_(axis),
          session_(from.session()),
          function_(function),
          is_descending_(is_descending) {
        const placement& p = *from.where;
        const int over = p.over[axis];
        const rank_mesh& mesh = *p.mesh;
        for (int r = 0; r < session_.size; ++r) {
            bool is_beside = true;
            for (int m = 0; m < mesh.axes(); ++m)
                is_beside = is_beside && (m == over || mesh.coordinate(r, m) == mesh.coordinate(session_.rank, m));
            if (is_beside) ranks_.push_back(r);
        }
        if (is_descending) std::ranges::reverse(ranks_);
        mine_ = place_of(static_cast<std::size_t>(mesh.coordinate(session_.rank, over)));
    }

    buffer_ref sort() {
        const range own = range_at(mine_);
        vector_part values{from_.type, own.size(), from_.memory};
        const bool wants_places = is_argsort();
        vector_part places{dtype::i8, own.size(), {}};
        if (wants_places) places = shifted(sorted(values, true), own.low);
        values = sorted(values, false);
        find_cuts(values);
        values = exchanged(values);
        vector_part result = wants_places ? taken(exchanged(places), sorted(values, true)) : sorted(values, false);
        return moved(result);
    }

private:
    bool is_argsort() const {
        return detail::code_of_word(function_) == static_cast<word>(detail::library_function::argsort_rows);
    }
    /// The place along the mesh axis of part number p, and the other way round.
    std::size_t place_of(std::size_t p) const { return is_descending_ ? parts() - 1 - p : p; }
    range range_at(std::size_t p) const { return from_.where->ranges[axis_][place_of(p)]; }
    index_t end_at(std::size_t p) const { return to_.ranges[axis_][place_of(p)].high; }
    std::size_t parts() const { return ranks_.size(); }
    stream_state& stream() const { return *context_on(session_.device).stream; }
    vector_part made(dtype type, index_t count) const {
        vector_part v{type, count, {}};
        v.memory = allocate_buffer(std::max<std::size_t>(v.bytes_of(count), 1), session_.device, stream());
        return v;
    }
    static operand operand_of(const vector_part& v, const detail::layout& where) {
        operand o;
        o.type = v.type;
        o.memory = v.memory.get();
        o.where = &where;
        return o;
    }
    static word leaf(dtype type) { return detail::make_word(word_kind::leaf, type); }

    /// Evaluates words over vectors of `count` elements.
    vector_part evaluated(std::initializer_list<word> program, std::span<const operand> operands, dtype type,
                          index_t count) {
        vector_part result = made(type, count);
        if (count == 0) return result;
        detail::layout where = detail::contiguous_layout(std::array{count});
        const output out{type, &result.memory, &where};
        const std::array<word, 1> bound{1};
        const bool binds = detail::kind_of_word(*(program.end() - 1)) != word_kind::map;
        evaluate_without_slot(
            {std::span(program.begin(), program.size()), operands, std::span(bound).first(binds ? 1 : 0), {&out, 1}});
        return result;
    }

    /// The values in order, or the places of the values in order.
    vector_part sorted(const vector_part& v, bool places) {
        const detail::layout where = detail::contiguous_layout(std::array{v.count});
        std::array<operand, 2> operands{operand_of(v, where), operand{}};
        operands[1].kind = detail::operand_kind::pick;
        operands[1].where = &where;
        const dtype type = places ? dtype::i8 : v.type;
        const auto f = places ? detail::library_function::argsort_rows : detail::library_function::sort_rows;
        return evaluated({leaf(v.type), detail::make_word(word_kind::library, type, static_cast<word>(f))}, operands,
                         type, v.count);
    }
    vector_part shifted(const vector_part& v, index_t by) {
        const detail::layout where = detail::contiguous_layout(std::array{v.count});
        std::array<operand, 2> operands{operand_of(v, where), operand{}};
        operands[1].kind = detail::operand_kind::scalar;
        operands[1].type = dtype::i8;
        operands[1].bits[0] = static_cast<std::uint64_t>(by);
        operands[1].serial = detail::next_serial();
        return evaluated({leaf(dtype::i8), detail::make_word(word_kind::scalar, dtype::i8),
                          detail::make_word(word_kind::map, dtype::i8, static_cast<word>(detail::op::add))},
                         operands, dtype::i8, v.count);
    }
    /// The values at these places.
    vector_part taken(const vector_part& v, const vector_part& places) {
        const detail::layout from = detail::contiguous_layout(std::array{v.count}),
                             at = detail::contiguous_layout(std::array{places.count});
        const std::array<operand, 2> operands{operand_of(v, from), operand_of(places, at)};
        return evaluated({leaf(v.type), leaf(dtype::i8),
                          detail::make_word(word_kind::gather, v.type, static_cast<word>(detail::unchecked_mode))},
                         operands, v.type, places.count);
    }

    /// All parts of arrays of which each rank has `count` elements, on the host.
    template <class T>
    std::vector<T> gathered(std::vector<T> own) {
        const std::size_t bytes = own.size() * sizeof(T);
        const buffer_ref all = allocate_buffer(std::max<std::size_t>(bytes * parts(), 1), session_.device, stream());
        copy_from_host(*all, mine_ * bytes, bytes, own.data(), stream());
        order_write(*all, stream());
        if (bytes > 0) session_.gather(ranks_, all->data, bytes);
        std::vector<T> whole(own.size() * parts());
        copy_to_host(*all, 0, bytes * parts(), whole.data(), stream());
        return whole;
    }

    /// An element in the order of the result.
    struct position {
        std::uint64_t order;
        std::size_t part;
        index_t place;
        friend auto operator<=>(const position&, const position&) = default;
    };

    static index_t samples_of(index_t elements) { return std::min(elements, most_samples); }
    index_t place_of_sample(std::size_t part, index_t k) const {
        const index_t n = range_at(part).size();
        return n <= most_samples ? k : k * (n / most_samples) + k * (n % most_samples) / most_samples;
    }

    /// Chooses where the result is cut, and finds the number of this rank's elements before each cut, and of others'.
    void find_cuts(const vector_part& values) {
        index_t most = 0;
        for (std::size_t p = 0; p < parts(); ++p) most = std::max(most, samples_of(range_at(p).size()));
        own_samples_.assign(static_cast<std::size_t>(most), 0);
        const index_t count = samples_of(values.count);
        if (count > 0) {
            std::vector<std::int64_t> where(static_cast<std::size_t>(count));
            for (index_t k = 0; k < count; ++k) where[static_cast<std::size_t>(k)] = place_of_sample(mine_, k);
            const vector_part places = made(dtype::i8, count);
            copy_from_host(*places.memory, 0, places.bytes_of(count), where.data(), stream());
            const buffer_ref memory = taken(values, places).memory;
            std::vector<std::byte> bytes(values.bytes_of(count));
            copy_to_host(*memory, 0, bytes.size(), bytes.data(), stream());
            for (index_t k = 0; k < count; ++k)
                own_samples_[static_cast<std::size_t>(k)] =
                    order_of_value(values.type, bytes.data() + values.bytes_of(k));
        }
        const std::vector<std::uint64_t> orders = gathered(own_samples_);
        std::vector<std::pair<position, index_t>> samples;  // and the elements that one stands for
        index_t total = 0;
        for (std::size_t p = 0; p < parts(); ++p) {
            const index_t n = range_at(p).size(), own = samples_of(n);
            for (index_t k = 0; k < own; ++k) {
                const index_t place = place_of_sample(p, k), next = k + 1 < own ? place_of_sample(p, k + 1) : n;
                samples.push_back({{orders[p * static_cast<std::size_t>(most) + static_cast<std::size_t>(k)], p, place},
                                   next - place});
            }
            total += n;
        }
        std::ranges::sort(samples);
        std::vector<index_t> before;  // of each cut, of this rank
        index_t passed = 0;
        for (const auto& [sample, weight] : samples) {
            while (before.size() + 1 < parts() && passed >= end_at(before.size()) && end_at(before.size()) < total)
                before.push_back(count_before(values, sample));
            passed += weight;
        }
        before.resize(parts() - 1, values.count);
        const std::vector<index_t> all = gathered(before);
        cuts_.assign(parts(), {});
        for (std::size_t p = 0; p < parts(); ++p) {
            cuts_[p].push_back(0);
            for (std::size_t k = 0; k + 1 < parts(); ++k) cuts_[p].push_back(all[p * (parts() - 1) + k]);
            cuts_[p].push_back(range_at(p).size());
        }
    }

    /// The number of this rank's elements before a cut.
    index_t count_before(const vector_part& values, const position& cut) {
        if (cut.part == mine_) return cut.place;
        // The sample behind the cut bounds the elements that are searched.
        const bool takes_equal = mine_ < cut.part;
        const auto end = own_samples_.begin() + static_cast<std::ptrdiff_t>(samples_of(values.count));
        const auto found = takes_equal ? std::upper_bound(own_samples_.begin(), end, cut.order)
                                       : std::lower_bound(own_samples_.begin(), end, cut.order);
        const auto k = static_cast<index_t>(found - own_samples_.begin());
        if (k == 0) return 0;
        const index_t low = place_of_sample(mine_, k - 1),
                      high = found == end ? values.count : place_of_sample(mine_, k);
        std::vector<std::byte> bytes(values.bytes_of(high - low));
        copy_to_host(*values.memory, values.bytes_of(low), bytes.size(), bytes.data(), stream());
        index_t n = low;
        for (index_t i = 0; i < high - low; ++i) {
            const std::uint64_t order = order_of_value(values.type, bytes.data() + values.bytes_of(i));
            n += order < cut.order || (takes_equal && order == cut.order) ? 1 : 0;
        }
        return n;
    }

    index_t sent(std::size_t from, std::size_t to) const { return cuts_[from][to + 1] - cuts_[from][to]; }
    /// The elements between two cuts, of all ranks in their order.
    vector_part exchanged(const vector_part& v) {
        index_t count = 0;
        for (std::size_t p = 0; p < parts(); ++p) count += sent(p, mine_);
        vector_part all = made(v.type, count);
        order_read(*v.memory, stream());
        order_write(*all.memory, stream());
        std::vector<message> messages;
        index_t first = 0;
        for (std::size_t p = 0; p < parts(); ++p) {
            const index_t arriving = sent(p, mine_);
            if (p == mine_) {
                if (arriving > 0)
                    copy(*all.memory, all.bytes_of(first), *v.memory, v.bytes_of(cuts_[p][p]), v.bytes_of(arriving),
                         stream());
            } else {
                if (sent(mine_, p) > 0)
                    messages.push_back({ranks_[p], v.at(cuts_[mine_][p]), v.bytes_of(sent(mine_, p)), true});
                if (arriving > 0) messages.push_back({ranks_[p], all.at(first), all.bytes_of(arriving), false});
            }
            first += arriving;
        }
        session_.exchange(messages);
        return all;
    }

    /// The result under the wanted partition.
    buffer_ref moved(const vector_part& result) {
        auto cut = std::make_shared<placement>(*from_.where);
        index_t low = 0;
        for (std::size_t k = 0; k < parts(); ++k) {
            index_t count = 0;
            for (std::size_t p = 0; p < parts(); ++p) count += sent(p, k);
            cut->ranges[axis_][place_of(k)] = {low, low + count};
            low += count;
        }
        distributed_storage found;
        found.where = cut;
        found.type = result.type;
        found.memory = result.memory;
        found.owned = contiguous_layout(cut->box_of(session_.rank));
        const detail::layout where = contiguous_layout(to_.box_of(session_.rank));
        vector_part moved = made(result.type, where.size());
        fetch(found, [&](int r) { return to_.box_of(r); }, {moved.memory, where});
        return moved.memory;
    }

    const distributed_storage& from_;
    const placement& to_;
    const std::size_t axis_;
    rank_session& session_;
    const word function_;
    const bool is_descending_;
    std::vector<int> ranks_;  // that have parts of the vector, in the order of these
    std::size_t mine_ = 0;
    std::vector<std::uint64_t> own_samples_;
    std::vector<std::vector<index_t>> cuts_;  // [part][cut]: the number of elements before it
};

}  // namespace

bool has_sample_sort(word function, dtype of) {
    const auto f = static_cast<detail::library_function>(detail::code_of_word(function));
    return (f == detail::library_function::sort_rows || f == detail::library_function::argsort_rows) &&
           detail::kind_of(of) != detail::kind::complex;
}

buffer_ref sample_sort(word function, const distributed_storage& from, std::size_t axis, const placement& to,
                       bool is_descending) {
    return sorter(function, from, axis, to, is_descending).sort();
}

}  // namespace ingot::runtime
