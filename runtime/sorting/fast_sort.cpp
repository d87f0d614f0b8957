// See fast_sort.hpp.
#include "runtime/sorting/fast_sort.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <limits>
#include <type_traits>
#include <vector>

#include "runtime/sorting/row_order.hpp"
#include "runtime/system/opened_library.hpp"

namespace ingot::runtime {

namespace {

/// hwy::Sorter, whose member functions take the object and an empty tag, which takes no register.
struct highway_api : api_table {
    using api_table::api_table;
    static library_files files() {
        return {{"libhwy_contrib.so.1"}, "libhwy_contrib.so.1 (Debian: libhwy1) is not here"};
    }

    void (*begin)(void* sorter) = function("_ZN3hwy6SorterC1Ev");
    void (*end)(void* sorter) = function("_ZN3hwy6Sorter6DeleteEv");
    template <class T>
    using sort_of = void (*)(const void* sorter, T*, std::size_t);
    sort_of<std::uint16_t> sort_u2 = ascending("t");
    sort_of<std::int16_t> sort_i2 = ascending("s");
    sort_of<std::uint32_t> sort_u4 = ascending("j");
    sort_of<std::int32_t> sort_i4 = ascending("i");
    sort_of<std::uint64_t> sort_u8 = ascending("m");
    sort_of<std::int64_t> sort_i8 = ascending("l");

    template <class T>
    sort_of<T> of() const {
        if constexpr (std::same_as<T, std::uint16_t>) return sort_u2;
        if constexpr (std::same_as<T, std::int16_t>) return sort_i2;
        if constexpr (std::same_as<T, std::uint32_t>) return sort_u4;
        if constexpr (std::same_as<T, std::int32_t>) return sort_i4;
        if constexpr (std::same_as<T, std::uint64_t>) return sort_u8;
        if constexpr (std::same_as<T, std::int64_t>) return sort_i8;
    }

private:
    any_function ascending(const std::string& type) const {
        return function("_ZNK3hwy6SorterclEP" + type + "mNS_13SortAscendingE");
    }
};

/// Below this length the standard library's sort is as fast.
constexpr std::size_t worth_vectors = 64;

template <class T>
bool sort_by_highway(T* values, std::size_t n) {
    const highway_api* const api = n < worth_vectors ? nullptr : opened_library<highway_api>::find();
    if (api == nullptr) return false;
    alignas(16) std::array<std::byte, 64> sorter{};
    api->begin(sorter.data());
    api->of<T>()(sorter.data(), values, n);
    api->end(sorter.data());
    return true;
}

/// Numbers as integers of the same order, for Highway's sorts of floating-point numbers lose infinities (1.0.3).
template <std::floating_point T>
bool sort_by_highway(T* values, std::size_t n) {
    using U = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    if (n < worth_vectors || opened_library<highway_api>::find() == nullptr) return false;
    for (std::size_t i = 0; i < n; ++i) values[i] = std::bit_cast<T>(into_order(std::bit_cast<U>(values[i])));
    sort_by_highway(reinterpret_cast<U*>(values), n);
    for (std::size_t i = 0; i < n; ++i) values[i] = std::bit_cast<T>(out_of_order(std::bit_cast<U>(values[i])));
    return true;
}

/// A byte's values are counted.
template <class T>
void sort_bytes(T* values, std::size_t n) {
    constexpr int least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
    std::array<std::size_t, 256> counts{};
    for (std::size_t i = 0; i < n; ++i) ++counts[static_cast<std::size_t>(values[i] - least)];
    for (int v = least; v <= most; ++v)
        values = std::fill_n(values, counts[static_cast<std::size_t>(v - least)], static_cast<T>(v));
}

template <class T>
void sort_halves(T* values, std::size_t n) {
    std::vector<std::uint16_t> keys(n);
    const auto end = std::partition(values, values + n, [](T x) { return !is_nan(static_cast<float>(x)); });
    const auto numbers = static_cast<std::size_t>(end - values);
    std::transform(values, end, keys.begin(), [](T x) { return into_order(x.bits()); });
    fast_sort(keys.data(), numbers);
    std::transform(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(numbers), values,
                   [](std::uint16_t key) { return T::from_bits(out_of_order(key)); });
}

}  // namespace

template <class T>
void fast_sort(T* values, std::size_t n) {
    if constexpr (sizeof(T) == 1) {
        if (n < worth_vectors) return std::sort(values, values + n);
        sort_bytes(values, n);
    } else if constexpr (std::same_as<T, float16> || std::same_as<T, bfloat16>) {
        if (n < worth_vectors) return std::sort(values, values + n, in_order());
        sort_halves(values, n);
    } else {
        T* end = values + n;
        if constexpr (std::floating_point<T>) end = std::partition(values, end, [](T x) { return !is_nan(x); });
        const auto numbers = static_cast<std::size_t>(end - values);
        if (!sort_by_highway(values, numbers)) std::sort(values, end);
    }
}

template void fast_sort(std::int8_t*, std::size_t);
template void fast_sort(std::uint8_t*, std::size_t);
template void fast_sort(std::int16_t*, std::size_t);
template void fast_sort(std::uint16_t*, std::size_t);
template void fast_sort(std::int32_t*, std::size_t);
template void fast_sort(std::uint32_t*, std::size_t);
template void fast_sort(std::int64_t*, std::size_t);
template void fast_sort(std::uint64_t*, std::size_t);
template void fast_sort(float16*, std::size_t);
template void fast_sort(bfloat16*, std::size_t);
template void fast_sort(float*, std::size_t);
template void fast_sort(double*, std::size_t);

}  // namespace ingot::runtime
