#include "runtime/sorting/sort_rows.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <ingot/sorting/sorts.hpp>

#include "runtime/device/device.hpp"
#include "runtime/device/graphs.hpp"
#include "runtime/device/host_workers.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/front/libraries.hpp"
#include "runtime/sorting/fast_sort.hpp"
#include "runtime/sorting/row_order.hpp"
#include "runtime/sorting/select_positions.hpp"
#include "runtime/sorting/side_by_side.hpp"

namespace ingot::runtime {

namespace {

template <class T>
constexpr bool is_complex = !std::is_arithmetic_v<T> && sizeof(T) >= 8;

template <class T>
void sort_part(T* begin, T* end) {
    if constexpr (is_complex<T>)
        std::sort(begin, end, in_order());
    else
        fast_sort(begin, static_cast<std::size_t>(end - begin));
}

/// Sorts parts on the workers, then merges them in pairs.
template <class T, class Sort, class Before>
void sort_long(T* values, std::size_t n, const Sort& sort, const Before& before) {
    constexpr std::size_t worth_a_worker = std::size_t{1} << 15;
    std::size_t parts = 1;
    while (parts * 2 <= worker_count() && n / (parts * 2) >= worth_a_worker) parts *= 2;
    const auto bound = [&](std::size_t part) { return values + n / parts * part + std::min(part, n % parts); };
    run_on_workers(parts, [&](std::size_t begin, std::size_t end) {
        for (std::size_t p = begin; p < end; ++p) sort(bound(p), bound(p + 1));
    });
    for (std::size_t width = 1; width < parts; width *= 2)
        run_on_workers(parts / (2 * width), [&](std::size_t begin, std::size_t end) {
            for (std::size_t p = begin; p < end; ++p)
                std::inplace_merge(bound(2 * p * width), bound((2 * p + 1) * width), bound(2 * (p + 1) * width),
                                   before);
        });
}

template <class T>
void sort_values(const row_sort& r) {
    const auto n = static_cast<std::size_t>(r.length);
    const auto row = [&](std::size_t i) {
        const auto at = static_cast<index_t>(i);
        T* const to = reinterpret_cast<T*>(r.to) + at * r.to_stride;
        std::memmove(static_cast<void*>(to), reinterpret_cast<const T*>(r.from) + at * r.from_stride, n * sizeof(T));
        return to;
    };
    if (r.rows == 1 && r.positions.empty()) return sort_long(row(0), n, sort_part<T>, in_order());
    run_on_workers(static_cast<std::size_t>(r.rows), [&](std::size_t begin, std::size_t end) {
        if constexpr (!is_complex<T>)
            if (sort_side_by_side<T>(r, begin, end)) return;
        for (std::size_t i = begin; i < end; ++i) {
            T* const values = row(i);
            if (r.positions.empty())
                sort_part(values, values + n);
            else
                select_positions(values, n, r.positions);
        }
    });
}

/// Keys and their indices, which are sorted together.
template <class T>
struct keyed_pairs {
    using type = std::pair<T, index_t>;

    explicit keyed_pairs(std::size_t n) : all(std::make_unique_for_overwrite<type[]>(n)), size(n) {}
    void take(const T* row) {
        for (std::size_t j = 0; j < size; ++j) all[j] = {row[j], static_cast<index_t>(j)};
    }
    static void sort(type* begin, type* end) { std::sort(begin, end, in_order()); }
    static constexpr in_order before{};
    void order_equal() {}
    index_t index(std::size_t j) const { return all[j].second; }

    std::unique_ptr<type[]> all;
    std::size_t size;
};

/// Real numbers and their indices, below 2^32, in 64 bits: as many high bits of a key's distance from the row's least
/// key as there is room for, above the index. Where low bits are cut, keys that are equal without them are sorted again
/// by the low ones, for which there is room: they are no more than the index's.
template <class T>
struct packed_keys {
    using type = std::uint64_t;

    explicit packed_keys(std::size_t n)
        : all(std::make_unique_for_overwrite<type[]>(n)),
          size(n),
          index_bits(static_cast<int>(std::bit_width(n - 1))) {}
    void take(const T* from) {
        row = from, least = ~std::uint64_t{0};
        std::uint64_t greatest = 0;
        for (std::size_t j = 0; j < size; ++j) {
            const std::uint64_t key = all[j] = ordered_bits(row[j]);
            least = std::min(least, key), greatest = std::max(greatest, key);
        }
        cut = std::max(static_cast<int>(std::bit_width(greatest - least)) + index_bits - 64, 0);
        for (std::size_t j = 0; j < size; ++j) all[j] = (all[j] - least) >> cut << index_bits | j;
    }
    static void sort(type* begin, type* end) { fast_sort(begin, static_cast<std::size_t>(end - begin)); }
    static constexpr std::less<type> before{};
    void order_equal() {
        const std::uint64_t low = (std::uint64_t{1} << cut) - 1;
        const auto high = [&](std::size_t j) { return all[j] >> index_bits; };
        for (std::size_t begin = 0, end; cut != 0 && begin < size; begin = end) {
            for (end = begin + 1; end < size && high(end) == high(begin);) ++end;
            if (end - begin == 1) continue;
            for (std::size_t j = begin; j < end; ++j) {
                const auto at = static_cast<std::uint64_t>(index(j));
                all[j] = ((ordered_bits(row[at]) - least) & low) << index_bits | at;
            }
            fast_sort(all.get() + begin, end - begin);
        }
    }
    index_t index(std::size_t j) const { return static_cast<index_t>(all[j] & ((std::uint64_t{1} << index_bits) - 1)); }

    std::unique_ptr<type[]> all;
    std::size_t size;
    const T* row = nullptr;
    std::uint64_t least = 0;
    int index_bits, cut = 0;
};

template <class T, class Keys>
void sort_indices_as(const sorted_rows& r) {
    const auto n = static_cast<std::size_t>(r.length);
    const auto sort_row = [&](std::size_t i, Keys& keys, const auto& sort) {
        keys.take(reinterpret_cast<const T*>(r.from) + static_cast<index_t>(i) * r.from_stride);
        sort(keys.all.get());
        keys.order_equal();
        index_t* const to = reinterpret_cast<index_t*>(r.to) + static_cast<index_t>(i) * r.to_stride;
        for (std::size_t j = 0; j < n; ++j) to[j] = keys.index(j);
    };
    if (r.rows == 1) {
        Keys keys(n);
        return sort_row(0, keys, [&](auto* all) { sort_long(all, n, Keys::sort, Keys::before); });
    }
    run_on_workers(static_cast<std::size_t>(r.rows), [&](std::size_t begin, std::size_t end) {
        Keys keys(n);
        for (std::size_t i = begin; i < end; ++i) sort_row(i, keys, [&](auto* all) { Keys::sort(all, all + n); });
    });
}

template <class T>
void sort_indices(const sorted_rows& r) {
    if constexpr (!is_complex<T>)
        if (r.length <= index_t{1} << 32) return sort_indices_as<T, packed_keys<T>>(r);
    sort_indices_as<T, keyed_pairs<T>>(r);
}

}  // namespace

void sort_on_host(const row_sort& r) {
    in_ordered_type(r.type,
                    [&]<class T>(std::type_identity<T>) { r.as_indices ? sort_indices<T>(r) : sort_values<T>(r); });
}

namespace {

void sort(const library_arguments& given, bool as_indices) {
    for_each_block(given, [&](const sorted_rows& r) {
        if (r.rows == 0 || r.length == 0) return;
        libraries::sorts({r, given.operands[0].type, as_indices}, given.stream);
    });
}

}  // namespace

void sort_rows(const library_arguments& given) { sort(given, false); }
void argsort_rows(const library_arguments& given) { sort(given, true); }

}  // namespace ingot::runtime

namespace ingot::detail {

void partition_rows(const buffer_ref& from, const layout& where, dtype type, std::vector<index_t> positions,
                    const buffer_ref& to) {
    const index_t size = where.size(), length = where.shape()[where.rank() - 1];
    if (size == 0) return;
    for (index_t& position : positions) position += position < 0 ? length : 0;
    std::ranges::sort(positions);
    runtime::stream_state& stream = *runtime::context_on(to->device).stream;
    runtime::order_read(*from, stream);
    runtime::order_write(*to, stream);
    const auto partition =
        [first = static_cast<const std::byte*>(from->data) + where.offset * static_cast<index_t>(size_of(type)),
         to = static_cast<std::byte*>(to->data), type, rows = size / length, length, positions = std::move(positions)] {
            runtime::sort_on_host({{first, to, rows, length, length, length}, type, false, positions});
        };
    if (runtime::graph_capture* const capture = stream.capture.load(std::memory_order_relaxed))
        capture->record(partition);
    else
        partition();
}

}  // namespace ingot::detail
