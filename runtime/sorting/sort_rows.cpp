#include "runtime/sorting/sort_rows.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/device/host_workers.hpp"
#include "runtime/front/libraries.hpp"
#include "runtime/sorting/fast_sort.hpp"
#include "runtime/sorting/row_order.hpp"

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
void sort_values(const sorted_rows& r) {
    const auto n = static_cast<std::size_t>(r.length);
    const auto row = [&](std::size_t i) {
        const auto at = static_cast<index_t>(i);
        T* const to = reinterpret_cast<T*>(r.to) + at * r.to_stride;
        std::memmove(static_cast<void*>(to), reinterpret_cast<const T*>(r.from) + at * r.from_stride, n * sizeof(T));
        return to;
    };
    if (r.rows == 1) return sort_long(row(0), n, sort_part<T>, in_order());
    run_on_workers(static_cast<std::size_t>(r.rows), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            T* const values = row(i);
            sort_part(values, values + n);
        }
    });
}

/// A key and its index, which are sorted together.
template <class T>
struct keyed_pair {
    using type = std::pair<T, index_t>;
    static type of(T key, std::size_t index) { return {key, static_cast<index_t>(index)}; }
    static index_t index_of(const type& k) { return k.second; }
    static void sort(type* begin, type* end) { std::sort(begin, end, in_order()); }
    static constexpr in_order before{};
};
/// In rows below 2^32 elements real numbers are integers, behind which the index is the low part or a second number.
template <class T>
struct keyed : keyed_pair<T> {};
template <class T>
    requires(!is_complex<T> && sizeof(T) <= 4)
struct keyed<T> {
    using type = std::uint64_t;
    static type of(T key, std::size_t index) { return ordered_bits(key) << 32 | index; }
    static index_t index_of(type k) { return static_cast<index_t>(k & 0xffffffffu); }
    static void sort(type* begin, type* end) { fast_sort(begin, static_cast<std::size_t>(end - begin)); }
    static constexpr std::less<type> before{};
};
template <class T>
    requires(std::is_arithmetic_v<T> && sizeof(T) == 8)
struct keyed<T> {
    using type = numbered_key;
    static type of(T key, std::size_t index) { return {index, ordered_bits(key)}; }
    static index_t index_of(const type& k) { return static_cast<index_t>(k.number); }
    static void sort(type* begin, type* end) { fast_sort(begin, static_cast<std::size_t>(end - begin)); }
    static constexpr std::less<type> before{};
};

template <class T, class Keyed>
void sort_indices_as(const sorted_rows& r) {
    const auto n = static_cast<std::size_t>(r.length);
    using keys = std::vector<typename Keyed::type>;
    const auto keys_of = [&](std::size_t i, keys& all) {
        const T* const from = reinterpret_cast<const T*>(r.from) + static_cast<index_t>(i) * r.from_stride;
        for (std::size_t j = 0; j < n; ++j) all[j] = Keyed::of(from[j], j);
    };
    const auto write = [&](std::size_t i, const keys& all) {
        index_t* const to = reinterpret_cast<index_t*>(r.to) + static_cast<index_t>(i) * r.to_stride;
        for (std::size_t j = 0; j < n; ++j) to[j] = Keyed::index_of(all[j]);
    };
    if (r.rows == 1) {
        keys all(n);
        keys_of(0, all);
        sort_long(all.data(), n, Keyed::sort, Keyed::before);
        return write(0, all);
    }
    run_on_workers(static_cast<std::size_t>(r.rows), [&](std::size_t begin, std::size_t end) {
        keys all(n);
        for (std::size_t i = begin; i < end; ++i) {
            keys_of(i, all);
            Keyed::sort(all.data(), all.data() + n);
            write(i, all);
        }
    });
}

template <class T>
void sort_indices(const sorted_rows& r) {
    if (r.length < index_t{1} << 32)
        sort_indices_as<T, keyed<T>>(r);
    else
        sort_indices_as<T, keyed_pair<T>>(r);
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
