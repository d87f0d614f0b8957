// The product of two csr matrices on the host (Gustavson, 1978): a row is the sum of the rows of b that a's row names.
// Each thread adds them in a dense row, in the order of a's entries, and sorts the columns that it met.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/device/host_workers.hpp"
#include "runtime/sparse/host_types.hpp"
#include "runtime/sparse/rows_on_host.hpp"

namespace ingot::runtime {

namespace {

using detail::index_t;

/// Calls f(entry of a, begin, end) for each entry of a row of a, with the entries of b in the row that it names.
template <class I, class F>
void for_factors(const csr_product& p, index_t row, const F& f) {
    const I *const columns = static_cast<const I*>(p.a.indices), *const starts = static_cast<const I*>(p.a.indptr);
    const I* const starts_of_b = static_cast<const I*>(p.b.indptr);
    for (I e = starts[row]; e < starts[row + 1]; ++e) f(e, starts_of_b[columns[e]], starts_of_b[columns[e] + 1]);
}

/// Whether the row is that of one entry of a, a multiple of a row of b.
template <class I>
bool is_multiple(const csr_product& p, index_t row) {
    const I* const starts = static_cast<const I*>(p.a.indptr);
    return starts[row + 1] - starts[row] == 1;
}

/// For each column the last row that had an entry in it, counted from 1. Rows need not be in order.
template <class I>
class last_rows {
public:
    explicit last_rows(index_t columns) : of_column_(static_cast<std::size_t>(columns)) {}
    /// Whether it is the row's first product in this column.
    bool is_first(I column, I row) {
        return std::exchange(of_column_[static_cast<std::size_t>(column)], row + 1) != row + 1;
    }

private:
    std::vector<I> of_column_;
};

template <class I>
class row_counter {
public:
    explicit row_counter(index_t columns) : last_(columns) {}

    /// Writes the number of a row's entries to the place of its end.
    void operator()(const csr_product& p, index_t row) {
        const I* const columns = static_cast<const I*>(p.b.indices);
        I count = 0;
        if (is_multiple<I>(p, row))
            for_factors<I>(p, row, [&](I, I begin, I end) { count = end - begin; });
        else
            for_factors<I>(p, row, [&](I, I begin, I end) {
                for (I f = begin; f < end; ++f) count += last_.is_first(columns[f], static_cast<I>(row));
            });
        static_cast<I*>(p.to.indptr)[row + 1] = count;
    }

private:
    last_rows<I> last_;
};

template <class T, class I>
class row_writer {
public:
    explicit row_writer(index_t columns)
        : last_(columns),
          sums_(static_cast<std::size_t>(columns)),
          marks_(static_cast<std::size_t>(columns) / 64 + 1),
          words_(marks_.size() / 64 + 1) {}

    /// Writes a row's columns and values.
    void operator()(const csr_product& p, index_t row) {
        const T *const a = static_cast<const T*>(p.a.values), *const b = static_cast<const T*>(p.b.values);
        const I* const columns = static_cast<const I*>(p.b.indices);
        const I place = static_cast<const I*>(p.to.indptr)[row];
        T* const values = static_cast<T*>(p.to.values) + place;
        I *const first = static_cast<I*>(p.to.indices) + place, *last = first;
        if (is_multiple<I>(p, row))
            return for_factors<I>(p, row, [&](I e, I begin, I end) {
                std::copy(columns + begin, columns + end, first);
                for (I f = begin; f < end; ++f) values[f - begin] = times(a[e], b[f]);
            });
        for_factors<I>(p, row, [&](I e, I begin, I end) {
            const T factor = a[e];
            for (I f = begin; f < end; ++f) {
                sum_of(columns[f]) += times(factor, b[f]);
                if (last_.is_first(columns[f], static_cast<I>(row))) *last++ = columns[f];
            }
        });
        sort(first, last);
        for (I* c = first; c < last; ++c) values[c - first] = std::exchange(sum_of(*c), T{});
    }

private:
    T& sum_of(I column) { return sums_[static_cast<std::size_t>(column)]; }

    /// Sorts columns, each of which occurs once. Many are marked in a bitmap, and read from it.
    void sort(I* first, I* last) {
        constexpr std::ptrdiff_t few = 24, blocks_for_each = 4;
        if (last - first <= few) return std::sort(first, last);
        const auto [least, most] = std::minmax_element(first, last);
        const std::size_t begin = block_of(*least), end = block_of(*most) + 1;
        if (static_cast<std::ptrdiff_t>(end - begin) > blocks_for_each * (last - first)) return std::sort(first, last);
        for (const I* c = first; c < last; ++c) {
            const std::size_t column = static_cast<std::size_t>(*c), word = column / 64;
            marks_[word] |= std::uint64_t{1} << (column % 64);
            words_[word / 64] |= std::uint64_t{1} << (word % 64);
        }
        for (std::size_t block = begin; block < end; ++block)
            take_bits(words_[block], block, [&](std::size_t word) {
                take_bits(marks_[word], word, [&](std::size_t column) { *first++ = static_cast<I>(column); });
            });
    }
    static std::size_t block_of(I column) { return static_cast<std::size_t>(column) / (64 * 64); }
    /// Calls f with the numbers of the bits that are set, in ascending order, and clears them.
    template <class F>
    static void take_bits(std::uint64_t& bits, std::size_t number, const F& f) {
        for (std::uint64_t left = std::exchange(bits, 0); left != 0; left &= left - 1)
            f(number * 64 + static_cast<std::size_t>(std::countr_zero(left)));
    }

    last_rows<I> last_;
    std::vector<T> sums_;               // of each column; all are 0 between two rows
    std::vector<std::uint64_t> marks_;  // a bit for each column; as well
    std::vector<std::uint64_t> words_;  // a bit for each word of marks_ that is not 0
};

/// Has all rows computed by a `Row`, of which each thread makes one.
template <class Row>
void compute_rows(const csr_product& p) {
    // As many blocks as threads at most, where these are to be few.
    const bool is_limited = p.most_threads < static_cast<index_t>(worker_count());
    const index_t block = std::max<index_t>(64, is_limited ? (p.rows + p.most_threads - 1) / p.most_threads : 0);
    std::mutex mutex;
    std::vector<std::unique_ptr<Row>> unused;
    run_on_workers(static_cast<std::size_t>((p.rows + block - 1) / block), [&](std::size_t begin, std::size_t end) {
        std::unique_ptr<Row> computed;
        if (const std::lock_guard lock(mutex); !unused.empty()) {
            computed = std::move(unused.back());
            unused.pop_back();
        }
        if (!computed) computed = std::make_unique<Row>(p.columns);
        const index_t last = std::min(static_cast<index_t>(end) * block, p.rows);
        for (index_t row = static_cast<index_t>(begin) * block; row < last; ++row) (*computed)(p, row);
        const std::lock_guard lock(mutex);
        unused.push_back(std::move(computed));
    });
}

template <class I>
index_t count_and_add(const csr_product& p) {
    compute_rows<row_counter<I>>(p);
    I* const ends = static_cast<I*>(p.to.indptr);
    ends[0] = 0;
    index_t entries = 0;
    for (index_t row = 1; row <= p.rows; ++row) entries += ends[row];
    if (entries <= std::numeric_limits<I>::max())
        for (index_t row = 1; row <= p.rows; ++row) ends[row] += ends[row - 1];
    return entries;
}

}  // namespace

index_t count_products_on_host(const csr_product& p) {
    return p.index_type == dtype::i4 ? count_and_add<std::int32_t>(p) : count_and_add<std::int64_t>(p);
}

void write_products_on_host(const csr_product& p) {
    with_types(p.type, p.index_type, [&]<class T, class I>() { compute_rows<row_writer<T, I>>(p); });
}

}  // namespace ingot::runtime
