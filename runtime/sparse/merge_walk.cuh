// A piece of the merge of two csr matrices (merge.hpp), for the host and for a GPU. Before it stands INGOT_ANYWHERE,
// which marks its function for either.

template <class Value, class Index>
struct csr_operand {
    const Value* values;
    const Index* indices;
    const Index* starts;
};

/// Calls element(column, x, y) for each place in which a or b has an entry, and end_row(row) behind the last one of a
/// row, for `count` items from number `first` on.
template <class Value, class Index, class Element, class End>
INGOT_ANYWHERE void walk_merged(const csr_operand<Value, Index>& a, const csr_operand<Value, Index>& b, long long rows,
                                long long first, long long count, const Element& element, const End& end_row) {
    long long row = 0, above = rows;
    while (above - row > 1) {
        const long long middle = (row + above) / 2;
        (middle + a.starts[middle] + b.starts[middle] <= first ? row : above) = middle;
    }
    long long i = a.starts[row], j = b.starts[row], end_of_a = a.starts[row + 1], end_of_b = b.starts[row + 1];
    // How many of the row's items before the first one are a's.
    const long long begin_of_a = i, passed = first - row - i - j;
    long long of_a = passed < end_of_b - j ? 0 : passed - (end_of_b - j), most = end_of_a - i;
    if (most > passed) most = passed;
    while (of_a < most) {
        const long long middle = (of_a + most) / 2;
        if (a.indices[i + middle] <= b.indices[j + passed - 1 - middle])
            of_a = middle + 1;
        else
            most = middle;
    }
    i += of_a, j += passed - of_a;
    // The columns of the next entries, `no_column` at the end of the row, and that of its last entry of a, which an
    // entry of b there has met.
    constexpr long long no_column = 0x7fffffffffffffff;
    const auto column_at = [](const Index* indices, long long at, long long end) {
        return at < end ? static_cast<long long>(indices[at]) : no_column;
    };
    long long of_next_a = column_at(a.indices, i, end_of_a), of_next_b = column_at(b.indices, j, end_of_b);
    long long last_of_a = i > begin_of_a ? a.indices[i - 1] : -1;
    for (; count > 0; --count) {
        if (of_next_a <= of_next_b && of_next_a != no_column) {
            last_of_a = of_next_a;
            element(static_cast<Index>(last_of_a), a.values[i], of_next_b == last_of_a ? b.values[j] : Value{});
            of_next_a = column_at(a.indices, ++i, end_of_a);
        } else if (of_next_b != no_column) {
            if (of_next_b != last_of_a) element(static_cast<Index>(of_next_b), Value{}, b.values[j]);
            of_next_b = column_at(b.indices, ++j, end_of_b);
        } else {
            end_row(row++);
            if (count == 1) break;
            end_of_a = a.starts[row + 1], end_of_b = b.starts[row + 1];
            of_next_a = column_at(a.indices, i, end_of_a), of_next_b = column_at(b.indices, j, end_of_b);
            last_of_a = -1;
        }
    }
}
