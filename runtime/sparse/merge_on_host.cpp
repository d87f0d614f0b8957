// The merge of two csr matrices on the host: a piece by each of its threads in turn.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <type_traits>

#include "runtime/device/host_workers.hpp"
#include "runtime/sparse/host_types.hpp"
#include "runtime/sparse/merge.hpp"

namespace ingot::runtime {

namespace {

using detail::index_t;

#define INGOT_ANYWHERE inline
#include "runtime/sparse/merge_walk.cuh"
#undef INGOT_ANYWHERE

/// Calls f(piece, first, count) for all pieces.
template <class F>
void for_pieces(const sparse_merge& m, const F& f) {
    constexpr index_t piece = items_of_piece(false);
    run_on_workers(static_cast<std::size_t>((m.items + piece - 1) / piece), [&](std::size_t begin, std::size_t end) {
        for (auto p = static_cast<index_t>(begin); p < static_cast<index_t>(end); ++p)
            f(p, p * piece, std::min(piece, m.items - p * piece));
    });
}

template <class T, class I, class Rule>
void merge(const sparse_merge& m, bool writes, const Rule& rule) {
    using made = std::invoke_result_t<Rule, T, T>;
    using R = std::conditional_t<std::is_same_v<made, bool>, float, T>;
    const auto operand = [](const csr_parts& of) {
        return csr_operand<T, I>{static_cast<const T*>(of.values), static_cast<const I*>(of.indices),
                                 static_cast<const I*>(of.indptr)};
    };
    const csr_operand<T, I> a = operand(m.a), b = operand(m.b);
    if (!writes)
        return for_pieces(m, [&](index_t p, index_t first, index_t items) {
            index_t kept = 0;
            walk_merged(a, b, m.rows, first, items, [&](I, T x, T y) { kept += rule(x, y) != made{}; }, [](index_t) {});
            m.counts[p] = kept;
        });
    R* const values = static_cast<R*>(m.values);
    I *const indices = static_cast<I*>(m.indices), *const indptr = static_cast<I*>(m.indptr);
    indptr[0] = 0;
    for_pieces(m, [&](index_t p, index_t first, index_t items) {
        index_t to = p == 0 ? 0 : m.counts[p - 1];
        const auto write = [&](I column, T x, T y) {
            const made result = rule(x, y);
            if (result == made{}) return;
            indices[to] = column;
            values[to++] = static_cast<R>(result);
        };
        walk_merged(a, b, m.rows, first, items, write, [&](index_t row) { indptr[row + 1] = static_cast<I>(to); });
    });
}

template <class T, class I>
void merge_by_rule(const sparse_merge& m, bool writes) {
    switch (m.rule) {
        case merge_rule::add:
            return merge<T, I>(m, writes, std::plus<T>{});
        case merge_rule::subtract:
            return merge<T, I>(m, writes, std::minus<T>{});
        case merge_rule::multiply:
            return merge<T, I>(m, writes, std::multiplies<T>{});
        case merge_rule::not_equal:
            return merge<T, I>(m, writes, std::not_equal_to<T>{});
        default:
            if constexpr (std::is_floating_point_v<T>)
                return m.rule == merge_rule::less ? merge<T, I>(m, writes, std::less<T>{})
                                                  : merge<T, I>(m, writes, std::greater<T>{});
    }
}

void merge_on_host(const sparse_merge& m, bool writes) {
    with_types(m.type, m.index_type, [&]<class T, class I>() { merge_by_rule<T, I>(m, writes); });
}

}  // namespace

void count_merged_on_host(const sparse_merge& m) { merge_on_host(m, false); }
void write_merged_on_host(const sparse_merge& m) { merge_on_host(m, true); }

}  // namespace ingot::runtime
