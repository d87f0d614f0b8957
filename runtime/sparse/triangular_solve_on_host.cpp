// Substitution on the host, row by row. One thread goes through the rows, for each needs those before it.

#include "runtime/sparse/host_types.hpp"
#include "runtime/sparse/triangular_solve.hpp"

namespace ingot::runtime {

namespace {

template <class T, class I>
void substitute(const triangular_solve& s) {
    using detail::index_t;
    const T *const values = static_cast<const T*>(s.values), *const b = static_cast<const T*>(s.b);
    const I *const indices = static_cast<const I*>(s.indices), *const indptr = static_cast<const I*>(s.indptr);
    T* const x = static_cast<T*>(s.x);
    for (index_t turn = 0; turn < s.rows; ++turn) {
        const index_t row = s.lower ? turn : s.rows - 1 - turn;
        T* const to = x + row * s.width;
        for (index_t j = 0; j < s.width; ++j) to[j] = b[row * s.width + j];
        T diagonal{1};
        for (I e = indptr[row]; e < indptr[row + 1]; ++e) {
            const index_t at = indices[e];
            if (at == row) diagonal = values[e];
            if (s.lower ? at >= row : at <= row) continue;
            const T* const known = x + at * s.width;
            for (index_t j = 0; j < s.width; ++j) to[j] -= values[e] * known[j];
        }
        if (!s.unit_diagonal)
            for (index_t j = 0; j < s.width; ++j) to[j] /= diagonal;
    }
}

}  // namespace

void solve_triangular_on_host(const triangular_solve& s) {
    with_types(s.type, s.index_type, [&]<class T, class I>() { substitute<T, I>(s); });
}

}  // namespace ingot::runtime
