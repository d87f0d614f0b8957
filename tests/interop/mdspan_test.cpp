// Arrays as mdspans: with std::mdspan where it is, and with one of the test's own that has the members which those of
// the standard library, Kokkos and CCCL have in common.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "tests/arrays/expect.hpp"

using namespace ingot;

namespace {

constexpr std::size_t dynamic = std::numeric_limits<std::size_t>::max();

template <class I, std::size_t... E>
class own_extents {
public:
    using index_type = I;
    template <class... N>
        requires(sizeof...(N) == sizeof...(E))
    explicit own_extents(N... n) : sizes_{static_cast<I>(n)...} {}
    static constexpr std::size_t rank() { return sizeof...(E); }
    static constexpr std::size_t static_extent(std::size_t axis) {
        return std::array<std::size_t, sizeof...(E)>{E...}[axis];
    }
    I extent(std::size_t axis) const { return sizes_[axis]; }

private:
    std::array<I, sizeof...(E)> sizes_;
};

struct own_strided {
    template <class E>
    class mapping {
    public:
        using numbers = std::array<typename E::index_type, E::rank()>;
        mapping(const E& sizes, const numbers& steps) : sizes_(sizes), steps_(steps) {}
        const E& extents() const { return sizes_; }
        numbers strides() const { return steps_; }
        typename E::index_type stride(std::size_t axis) const { return steps_[axis]; }

    private:
        E sizes_;
        numbers steps_;
    };
};

template <bool first_axis_is_inner>
struct own_contiguous {
    template <class E>
    class mapping {
    public:
        explicit mapping(const E& sizes) : sizes_(sizes) {}
        const E& extents() const { return sizes_; }
        typename E::index_type stride(std::size_t axis) const {
            typename E::index_type n = 1;
            for (std::size_t j = 0; j < E::rank(); ++j)
                if (first_axis_is_inner ? j < axis : j > axis) n *= sizes_.extent(j);
            return n;
        }

    private:
        E sizes_;
    };
};
using own_right = own_contiguous<false>;
using own_left = own_contiguous<true>;

template <class T, class E, class Layout>
class own_mdspan {
public:
    using element_type = T;
    using index_type = typename E::index_type;
    using extents_type = E;
    using mapping_type = typename Layout::template mapping<E>;

    own_mdspan(T* first, const mapping_type& by) : first_(first), by_(by) {}
    T* data_handle() const { return first_; }
    const E& extents() const { return by_.extents(); }
    index_type stride(std::size_t axis) const { return by_.stride(axis); }
    template <class... N>
    T& operator()(N... n) const {
        std::size_t axis = 0;
        index_type at = 0;
        ((at += static_cast<index_type>(n) * by_.stride(axis++)), ...);
        return first_[at];
    }

private:
    T* first_;
    mapping_type by_;
};

template <class T, class Layout>
using plane = own_mdspan<T, own_extents<std::int64_t, dynamic, dynamic>, Layout>;
using left_plane = plane<int, own_left>;
template <class M, class A>
concept shows = requires(A& x) { to_mdspan<M>(x); };

static_assert(shows<plane<float, own_strided>, array<float>>);
static_assert(shows<plane<const float, own_strided>, const array<float>>);
static_assert(!shows<plane<float, own_strided>, const array<float>>, "a const array is read alone");
static_assert(!shows<plane<double, own_strided>, array<float>>, "an mdspan converts nothing");

/// An array over memory with the test's own strides.
array<int> over(std::vector<int>& memory, const shape_like& shape, const shape_like& strides_in_bytes) {
    return asarray<int>(unowned_memory(memory.data(), memory.size() * sizeof(int)), shape, strides_in_bytes);
}

}  // namespace

TEST_CASE("an mdspan shows an array's elements, and what it writes is the array's") {
    const with_device on_the_host(device::host());
    array<int> x = reshape(arange<int>(24), {4, 6}), before = x;
    const auto m = to_mdspan<plane<int, own_strided>>(x);
    CHECK(m(2, 3) == 15);
    m(2, 3) = -1;
    CHECK(x(2, 3).item() == -1);
    CHECK(before(2, 3).item() == 15);  // it has un-shared its buffer
    CHECK(m.data_handle() == std::as_const(x).data());

    // Read alone it un-shares nothing.
    const array<int> kept = before;
    const auto r = to_mdspan<plane<const int, own_strided>>(kept);
    CHECK(r.data_handle() == before.data());
    CHECK(to_mdspan<plane<const int, own_right>>(before).data_handle() == kept.data());
    CHECK(r(3, 5) == 23);

    // To an mdspan and back, with any index type and static extents.
    using known = own_extents<short, 4, dynamic>;
    const auto back = asarray(to_mdspan<own_mdspan<int, known, own_right>>(x));
    CHECK(back.data() == std::as_const(x).data());
    CHECK(back.shape() == shape_like{4, 6});
    const array<double> number = full<double>({}, 2.5);
    CHECK(to_mdspan<own_mdspan<const double, own_extents<int>, own_strided>>(number)() == 2.5);
    array<float> empty_rows = zeros<float>({0, 3});
    CHECK(to_mdspan<plane<float, own_right>>(empty_rows).extents().extent(1) == 3);
    CHECK(to_mdspan<plane<float, own_left>>(empty_rows).extents().extent(0) == 0);
}

TEST_CASE("strides are the layout's, or the array is refused") {
    std::vector<int> memory(24);
    for (int i = 0; i < 24; ++i) memory[static_cast<std::size_t>(i)] = i;
    array<int> columns = over(memory, {4, 6}, {4, 16}), apart = over(memory, {2, 3}, {48, 8});
    CHECK(to_mdspan<plane<int, own_left>>(columns)(3, 5) == 23);
    const auto a = to_mdspan<plane<int, own_strided>>(apart);
    CHECK(a(1, 2) == 16);
    CHECK(a.stride(0) == 12);
    CHECK(thrown<shape_error>([&] { (void)to_mdspan<plane<int, own_right>>(columns); }) ==
          "[to_mdspan] the array of shape (4, 6) has a stride of 1 elements along axis 0, and the mdspan's layout "
          "has 6");
    CHECK_THROWS_AS((void)to_mdspan<left_plane>(apart), shape_error);
    // Along an axis of extent 1 the stride is ignored.
    array<int> row = over(memory, {1, 6}, {-400, 4});
    CHECK(to_mdspan<plane<int, own_right>>(row)(0, 5) == 5);
    CHECK(to_mdspan<plane<int, own_strided>>(row).stride(0) == 1);
    // An mdspan's strides are positive.
    array<int> repeated = over(memory, {4, 6}, {0, 4});
    CHECK(thrown<shape_error>([&] { (void)to_mdspan<plane<int, own_strided>>(repeated); }) ==
          "[to_mdspan] the array has shape (4, 6), whose axis 0 has a stride of 0 elements; an mdspan's are positive");
    std::int64_t shape[] = {4}, strides[] = {-1};
    dlpack::managed_tensor backwards{};
    backwards.dl_tensor = {memory.data() + 3, {dlpack::cpu, 0}, 1, {0, 32, 1}, shape, strides, 0};
    array<int> flipped = from_dlpack<int>(&backwards);
    using line = own_mdspan<int, own_extents<int, dynamic>, own_strided>;
    CHECK_THROWS_AS((void)to_mdspan<line>(flipped), shape_error);
}

TEST_CASE("other axes, other extents, small indices and memory that is read alone are told apart") {
    array<float> x = zeros<float>({2, 3});
    CHECK(thrown<shape_error>([&] { (void)to_mdspan<own_mdspan<float, own_extents<int, dynamic>, own_right>>(x); }) ==
          "[to_mdspan] the array has shape (2, 3), and an mdspan of 1 axes is wanted");
    CHECK(thrown<shape_error>([&] { (void)to_mdspan<own_mdspan<float, own_extents<int, 2, 4>, own_right>>(x); }) ==
          "[to_mdspan] the array has shape (2, 3), and the mdspan's axis 1 is of 4");
    using short_line = own_mdspan<const float, own_extents<signed char, dynamic>, own_right>;
    const array<float> most = zeros<float>({127}), more = zeros<float>({128});
    CHECK(to_mdspan<short_line>(most).extents().extent(0) == 127);
    CHECK(thrown<shape_error>([&] { (void)to_mdspan<short_line>(more); }) ==
          "[to_mdspan] the array has shape (128,), which reaches further than the mdspan's indices count, 127");
    const std::vector<float> values(6);
    array<float> alone = frombuffer(std::span<const float>(values), {2, 3});
    CHECK(to_mdspan<plane<const float, own_right>>(alone).data_handle() == values.data());
    CHECK(thrown<read_only_error>([&] { (void)to_mdspan<plane<float, own_right>>(alone); }).find("read-only") !=
          std::string::npos);
    // A call that throws un-shares nothing, and later copies still share.
    const array<float> copy = x;
    using columns = plane<float, own_left>;
    CHECK_THROWS_AS((void)to_mdspan<columns>(x), shape_error);
    CHECK(std::as_const(x).data() == copy.data());
    const array<float> later = x;
    CHECK(later.data() == copy.data());
}

#ifdef __cpp_lib_mdspan
TEST_CASE("the standard library's mdspan is made without its name") {
    const with_device on_the_host(device::host());
    array<int> x = reshape(arange<int>(6), {2, 3});
    const auto m = to_mdspan<2>(x);
    m[std::array{1, 2}] = 50;
    CHECK(x(1, 2).item() == 50);
    const array<int>& kept = x;
    CHECK(to_mdspan<2>(kept)[std::array{1, 2}] == 50);
    CHECK(to_mdspan<std::mdspan<const int, std::extents<int, 2, 3>>>(kept)[std::array{0, 1}] == 1);
    CHECK_THROWS_AS((void)to_mdspan<3>(x), shape_error);
    CHECK(asarray(m).data() == kept.data());
}
#endif
