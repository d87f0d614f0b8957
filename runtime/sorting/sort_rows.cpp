#include "runtime/sorting/sort_rows.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "runtime/device/host_workers.hpp"
#include "runtime/front/libraries.hpp"
#include "runtime/sorting/row_order.hpp"

namespace ingot::runtime {

namespace {

/// Sorts parts on the workers, then merges them in pairs.
template <class T>
void sort_long(T* values, std::size_t n) {
    constexpr std::size_t worth_a_worker = std::size_t{1} << 15;
    std::size_t parts = 1;
    while (parts * 2 <= worker_count() && n / (parts * 2) >= worth_a_worker) parts *= 2;
    const auto bound = [&](std::size_t part) { return values + n / parts * part + std::min(part, n % parts); };
    run_on_workers(parts, [&](std::size_t begin, std::size_t end) {
        for (std::size_t p = begin; p < end; ++p) std::sort(bound(p), bound(p + 1), in_order());
    });
    for (std::size_t width = 1; width < parts; width *= 2)
        run_on_workers(parts / (2 * width), [&](std::size_t begin, std::size_t end) {
            for (std::size_t p = begin; p < end; ++p)
                std::inplace_merge(bound(2 * p * width), bound((2 * p + 1) * width), bound(2 * (p + 1) * width),
                                   in_order());
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
    if (r.rows == 1) return sort_long(row(0), n);
    run_on_workers(static_cast<std::size_t>(r.rows), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            T* const values = row(i);
            std::sort(values, values + n, in_order());
        }
    });
}

template <class T>
void sort_indices(const sorted_rows& r) {
    using keyed = std::pair<T, index_t>;
    const auto n = static_cast<std::size_t>(r.length);
    const auto keys_of = [&](std::size_t i, std::vector<keyed>& all) {
        const T* const keys = reinterpret_cast<const T*>(r.from) + static_cast<index_t>(i) * r.from_stride;
        for (std::size_t j = 0; j < n; ++j) all[j] = {keys[j], static_cast<index_t>(j)};
    };
    const auto write = [&](std::size_t i, const std::vector<keyed>& all) {
        index_t* const to = reinterpret_cast<index_t*>(r.to) + static_cast<index_t>(i) * r.to_stride;
        for (std::size_t j = 0; j < n; ++j) to[j] = all[j].second;
    };
    if (r.rows == 1) {
        std::vector<keyed> all(n);
        keys_of(0, all);
        sort_long(all.data(), n);
        return write(0, all);
    }
    run_on_workers(static_cast<std::size_t>(r.rows), [&](std::size_t begin, std::size_t end) {
        std::vector<keyed> all(n);
        for (std::size_t i = begin; i < end; ++i) {
            keys_of(i, all);
            std::sort(all.begin(), all.end(), in_order());
            write(i, all);
        }
    });
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
