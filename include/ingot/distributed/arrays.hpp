// Distributed arrays. One is an ordinary array<T> whose elements lie in parts on the ranks' devices: its shape is that
// of the whole, and expressions, views and assignments are written and mean the same. Each rank computes its part of a
// result by the kernel that one device would run. An ordinary array beside it counts as replicated: every rank must
// hold the same values. A result of which no axis is split, such as a sum over all axes, is an ordinary array, equal on
// all ranks.
#pragma once

#include <span>
#include <string>
#include <utility>

#include <ingot/core/array.hpp>
#include <ingot/core/creation.hpp>
#include <ingot/core/export.hpp>
#include <ingot/core/lazy.hpp>
#include <ingot/distributed/session.hpp>

namespace ingot::detail::parts {
/// Makes `to` an array of that shape under a partition, not initialised.
INGOT_API void make_distributed(const char* operation, destination to, std::span<const std::int64_t> shape,
                                const distributed::partition&);
/// Copies this rank's part of an array to an ordinary one.
INGOT_API void copy_local_part(destination to, const buffer_ref& from, const layout& from_where);
/// Moves an array's elements to another partition.
INGOT_API void move_to_partition(destination to, const buffer_ref& from, const layout& from_where,
                                 const distributed::partition&);
/// Evaluates an expression under a partition. Kernels that compute an element write it where it is sent from.
INGOT_API void evaluate_under_partition(destination to, const tree_ref&, const distributed::partition&);
/// Copies the elements of all ranks to an ordinary array.
INGOT_API void copy_to_all(destination to, const buffer_ref& from, const layout& from_where);
/// Copies a part to memory under a partition. Throws distributed_error where the part's shape is not this rank's.
INGOT_API void write_local_part(destination to, const buffer_ref& part, const layout& part_where);
INGOT_API bool has_parts(const buffer_ref& memory) noexcept;
/// Reads a .npy file, each rank its part.
INGOT_API void load_parts(const std::string& path, destination to, const distributed::partition&);

template <class T>
destination destination_of(leaf<T>& l) {
    return {dtype_of<T>, l.memory(), l.where()};
}
template <class T>
array<T> made(const char* operation, std::span<const std::int64_t> shape, const distributed::partition& p) {
    leaf<T> l;
    make_distributed(operation, destination_of(l), shape, p);
    return array<T>(adopted{}, std::move(l));
}

}  // namespace ingot::detail::parts

namespace ingot::distributed {

/// An array under a partition; `distributed::array<T>` says in a signature that one is expected.
template <class T>
using array = ingot::array<T>;

/// An uninitialised array of this shape under a partition. A collective call, as all functions of this header are:
/// every rank makes it, in the same order. Throws shape_error, out_of_memory, and distributed_error where the partition
/// names more axes than there are.
///
///     distributed::run_local(2, [](distributed::session& s) {
///         auto x = distributed::empty<float>({8, 3}, distributed::split(distributed::mesh(s)));
///         if (s.rank() == 0) std::cout << x.shape();
///     });
///     // prints: (8, 3)
template <class T = double>
array<T> empty(const shape_like& shape, const partition& p) {
    return detail::parts::made<T>("distributed::empty", shape.values(), p);
}

/// An array of one value. Throws what `empty` does, and dtype_error where an integer does not fit T.
///
///     distributed::run_local(2, [](distributed::session& s) {
///         array<int> x = distributed::full<int>({4}, 7, distributed::split(distributed::mesh(s)));
///         array<int> total = sum(x);
///         if (s.rank() == 0) std::cout << total;
///     });
///     // prints: 28
template <class T = double, weak_scalar S>
array<T> full(const shape_like& shape, S value, const partition& p) {
    array<T> a = detail::parts::made<T>("distributed::full", shape.values(), p);
    a.fill(value);
    return a;
}
/// Zeros, by default of float64. Throws what `empty` does.
///
///     const distributed::session alone;
///     const auto x = distributed::zeros({2}, distributed::split(distributed::mesh(alone)));
///     std::cout << distributed::local(x);
///     // prints: [0. 0.]
template <class T = double>
array<T> zeros(const shape_like& shape, const partition& p) {
    return full<T>(shape, 0, p);
}
/// Ones, by default of float64. Throws what `empty` does.
///
///     const distributed::session alone;
///     std::cout << distributed::ones<int>({3}, distributed::split(distributed::mesh(alone)));
///     // prints: [1 1 1]
template <class T = double>
array<T> ones(const shape_like& shape, const partition& p) {
    return full<T>(shape, 1, p);
}

/// Whether an array's elements lie in parts on several ranks.
///
///     distributed::run_local(2, [](distributed::session& s) {
///         array<int> x = distributed::ones<int>({4}, distributed::split(distributed::mesh(s)));
///         array<int> total = sum(x);
///         if (s.rank() == 0) std::cout << distributed::is_distributed(x) << distributed::is_distributed(total);
///     });
///     // prints: 10
template <class T>
bool is_distributed(const array<T>& a) noexcept {
    return detail::parts::has_parts(a.as_leaf().memory());
}

/// An expression under another partition. Elements move where another rank wants them; an expression over ordinary
/// arrays and random numbers is computed in place. Throws what `empty` and the evaluation throw.
///
///     distributed::run_local(2, [](distributed::session& s) {
///         distributed::mesh m(s);
///         array<int> x = distributed::redistribute(arange<int>(6), distributed::split(m));
///         array<int> whole = distributed::redistribute(x * x, distributed::replicated(m));
///         if (s.rank() == 1) std::cout << distributed::local(x) << ' ' << whole;
///     });
///     // prints: [3 4 5] [ 0  1  4  9 16 25]
template <array_expression E>
array<typename E::value_type> redistribute(const E& e, const partition& p) {
    using T = typename E::value_type;
    const auto& node = detail::as_node(e);
    if (node.on_device().kind() != device_kind::distributed) {
        detail::shape_room room;
        array<T> a = detail::parts::made<T>("distributed::redistribute", node.extents(room).span(), p);
        detail::assign(a, e);
        return a;
    }
    detail::leaf<T> l;
    if constexpr (std::is_same_v<E, array<T>>)
        detail::parts::move_to_partition(detail::parts::destination_of(l), e.as_leaf().memory(), e.as_leaf().where(),
                                         p);
    else
        detail::parts::evaluate_under_partition(detail::parts::destination_of(l), lazy<T>(e).tree(), p);
    return array<T>(detail::adopted{}, std::move(l));
}

/// The whole array on every rank, an ordinary array.
///
///     distributed::run_local(2, [](distributed::session& s) {
///         array<int> x = distributed::redistribute(arange<int>(4), distributed::split(distributed::mesh(s)));
///         array<int> whole = distributed::gather(x + 1);
///         if (s.rank() == 0) std::cout << whole;
///     });
///     // prints: [1 2 3 4]
template <array_expression E>
array<typename E::value_type> gather(const E& e) {
    const array<typename E::value_type> from(e);
    if (!is_distributed(from)) return from;
    detail::leaf<typename E::value_type> l;
    detail::parts::copy_to_all(detail::parts::destination_of(l), from.as_leaf().memory(), from.as_leaf().where());
    return array<typename E::value_type>(detail::adopted{}, std::move(l));
}

/// A copy of this rank's part, without ghost layers: an ordinary array. Of an ordinary array, the array itself. No rank
/// waits for another.
///
///     distributed::run_local(2, [](distributed::session& s) {
///         array<int> x = distributed::redistribute(arange<int>(5), distributed::split(distributed::mesh(s)));
///         if (s.rank() == 1) std::cout << distributed::local(x);
///     });
///     // prints: [3 4]
template <class T>
array<T> local(const array<T>& a) {
    if (!is_distributed(a)) return a;
    detail::leaf<T> l;
    detail::parts::copy_local_part(detail::parts::destination_of(l), a.as_leaf().memory(), a.as_leaf().where());
    return array<T>(detail::adopted{}, std::move(l));
}

/// An array from a .npy file under a partition, of which every rank reads its part. `save(path, x)` writes one: all
/// ranks call it, and the file appears when all have written their parts. Throws file_error, and dtype_error where the
/// file holds another type.
///
///     distributed::run_local(2, [](distributed::session& s) {
///         const auto rows = distributed::split(distributed::mesh(s));
///         save("parts.npy", distributed::redistribute(arange<int>(6), rows));
///         array<int> x = distributed::load<int>("parts.npy", rows);
///         if (s.rank() == 1) std::cout << distributed::local(x);
///     });
///     // prints: [3 4 5]
template <class T>
array<T> load(const std::string& path, const partition& p) {
    detail::leaf<T> l;
    detail::parts::load_parts(path, detail::parts::destination_of(l), p);
    return array<T>(detail::adopted{}, std::move(l));
}

/// An array of that shape whose part on this rank is `part`. Throws distributed_error where the part has another shape
/// than the partition gives this rank.
///
///     distributed::run_local(2, [](distributed::session& s) {
///         distributed::partition p = distributed::split(distributed::mesh(s));
///         array<int> x = distributed::wrap(full<int>(2, s.rank()), {4}, p);
///         array<int> whole = distributed::gather(x);
///         if (s.rank() == 0) std::cout << whole;
///     });
///     // prints: [0 0 1 1]
template <class T>
array<T> wrap(const array<T>& part, const shape_like& shape, const partition& p) {
    detail::leaf<T> l;
    detail::parts::make_distributed("distributed::wrap", detail::parts::destination_of(l), shape.values(), p);
    detail::parts::write_local_part(detail::parts::destination_of(l), part.as_leaf().memory(), part.as_leaf().where());
    return array<T>(detail::adopted{}, std::move(l));
}

}  // namespace ingot::distributed
