// The transposition of a csr on the host: entries are counted by column, then each is written to its column's next
// place, in the order of the rows.
#include <algorithm>

#include "runtime/sparse/host_types.hpp"
#include "runtime/sparse/rows_on_host.hpp"

namespace ingot::runtime {

namespace {

template <class T, class I>
void transpose_rows(const csr_transposition& t) {
    const T* const values = static_cast<const T*>(t.from.values);
    const I *const indices = static_cast<const I*>(t.from.indices), *const indptr =
                                                                        static_cast<const I*>(t.from.indptr);
    T* const to_values = static_cast<T*>(t.to.values);
    I* const to_indices = static_cast<I*>(t.to.indices);
    I* const to_indptr = static_cast<I*>(t.to.indptr);
    std::fill_n(to_indptr, t.columns + 1, I{0});
    // The number of a column's entries becomes the place of its first one, and in the end that behind its last one.
    I* const next = to_indptr + 1;
    for (I e = 0; e < indptr[t.rows]; ++e) ++next[indices[e]];
    for (I column = 0, place = 0; column < t.columns; ++column) {
        const I count = next[column];
        next[column] = place;
        place += count;
    }
    for (I row = 0; row < t.rows; ++row)
        for (I e = indptr[row]; e < indptr[row + 1]; ++e) {
            const I place = next[indices[e]]++;
            to_indices[place] = row;
            to_values[place] = values[e];
        }
}

}  // namespace

void transpose_on_host(const csr_transposition& t) {
    with_types(t.type, t.index_type, [&]<class T, class I>() { transpose_rows<T, I>(t); });
}

}  // namespace ingot::runtime
