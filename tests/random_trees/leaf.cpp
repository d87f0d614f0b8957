#include "leaf.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <ingot/core/philox.hpp>

namespace ingot::tests {

namespace {

using namespace detail;

template <class T>
T any_value(random_engine& random) {
    if constexpr (std::is_same_v<T, bool>) {
        return random.chance(50);
    } else if constexpr (std::is_integral_v<T>) {
        switch (random.below(4)) {
            case 0:
                return static_cast<T>(random());
            case 1:
                return std::numeric_limits<T>::max();
            case 2:
                return std::numeric_limits<T>::min();
            default:
                return static_cast<T>(random.below(17));
        }
    } else {
        constexpr T special[] = {T(0),
                                 T(-0.0),
                                 T(1),
                                 T(-1),
                                 T(0.5),
                                 std::numeric_limits<T>::infinity(),
                                 -std::numeric_limits<T>::infinity(),
                                 std::numeric_limits<T>::quiet_NaN(),
                                 std::numeric_limits<T>::denorm_min(),
                                 std::numeric_limits<T>::max(),
                                 T(2.5),
                                 T(1e9)};
        if (random.chance(30)) return random.one_of(special);
        const double whole = random.below(20001) - 10000;
        return static_cast<T>(std::ldexp(whole, random.below(9) - 8));
    }
}

template <class T>
T uniform_number(const random_leaf& leaf, std::uint64_t element) {
    const philox::block w = philox::words(leaf.bits[0], leaf.bits[1], element / philox::per_block<T>);
    return philox::uniform(philox::word_of<T>(w, element % philox::per_block<T>));
}

std::uint32_t integer(const random_leaf& leaf, std::uint64_t element) {
    const auto half = [&](std::uint64_t block) {
        return philox::words(leaf.bits[0], leaf.bits[1], block)[element % 4];
    };
    __extension__ using wide = unsigned __int128;
    const wide word = std::uint64_t{half(element / 4)} << 32 | half(element / 4 + (std::uint64_t{1} << 60));
    return static_cast<std::uint32_t>(word * (std::uint64_t{leaf.last} + 1) >> 64);
}

}  // namespace

index_t size_of_shape(const extents& shape) {
    index_t n = 1;
    for (const index_t extent : shape) n *= extent;
    return n;
}

layout random_layout(random_engine& random, const extents& shape, purpose use) {
    const bool plain = random.chance(40), broadcasts = use == purpose::read && !plain;
    const std::size_t drop = broadcasts && !shape.empty() && random.chance(20) ? random.below(shape.size()) : 0;
    layout where(static_cast<int>(shape.size() - drop));
    std::vector<int> order;
    for (int j = 0; j < where.rank(); ++j) {
        where.shape()[j] = broadcasts && random.chance(15) ? 1 : shape[drop + static_cast<std::size_t>(j)];
        order.push_back(where.rank() - 1 - j);
    }
    if (!plain && random.chance(30)) std::shuffle(order.begin(), order.end(), random);
    index_t stride = !plain && random.chance(20) ? 2 : 1;
    where.offset = plain || random.chance(50) ? 0 : random.below(index_t{7});
    for (const int j : order) {
        const index_t extent = where.shape()[j];
        const bool backwards = !plain && random.chance(15);
        const bool still = broadcasts && random.chance(8);
        where.strides()[j] = still ? 0 : backwards ? -stride : stride;
        if (still) continue;
        if (backwards && extent > 0) where.offset += stride * (extent - 1);
        stride *= std::max<index_t>(extent, 1);
        if (!plain && random.chance(20)) stride += random.below(index_t{6}) % (2 + stride / 4);
    }
    return where;
}

std::size_t reach_of(const layout& where) {
    index_t last = where.offset;
    for (int j = 0; j < where.rank(); ++j)
        last += std::max<index_t>(where.strides()[j], 0) * std::max<index_t>(where.shape()[j] - 1, 0);
    return static_cast<std::size_t>(last + 1);
}

std::vector<std::byte> random_bytes(random_engine& random, dtype type, std::size_t elements) {
    std::vector<std::byte> bytes(elements * size_of(type));
    constexpr std::size_t period = 1021;  // no stride meets the same elements again soon
    with_type(type, [&]<class T>(T) {
        for (std::size_t i = 0; i < std::min(elements, period); ++i) {
            const T v = any_value<T>(random);
            std::memcpy(bytes.data() + i * sizeof(T), &v, sizeof(T));
        }
    });
    for (std::size_t from = period * size_of(type); from < bytes.size(); from *= 2)  // tests are not optimised
        std::memcpy(bytes.data() + from, bytes.data(), std::min(from, bytes.size() - from));
    return bytes;
}

random_leaf random_array(random_engine& random, const extents& context) {
    random_leaf leaf;
    leaf.type = random.one_of(grown_dtypes);
    leaf.context = context;
    leaf.where = random_layout(random, context, purpose::read);
    leaf.bytes = random_bytes(random, leaf.type, reach_of(leaf.where));
    return leaf;
}

random_leaf covering_array(random_engine& random, const extents& context) {
    random_leaf leaf;
    leaf.type = random.one_of(grown_dtypes);
    leaf.context = context;
    leaf.covers = true;
    leaf.where = contiguous_layout(context);
    leaf.where.offset = random.chance(60) ? 0 : random.below(index_t{9});
    leaf.bytes = random_bytes(random, leaf.type, static_cast<std::size_t>(leaf.where.size()) + 16);
    return leaf;
}

random_leaf random_scalar(random_engine& random, const extents& context) {
    random_leaf leaf;
    leaf.kind = operand_kind::scalar;
    leaf.type = random.one_of(grown_dtypes);
    leaf.context = context;
    with_type(leaf.type, [&]<class T>(T) { leaf.bits[0] = bits_of_value(any_value<T>(random)); });
    return leaf;
}

random_leaf random_generator(random_engine& random, const extents& context) {
    random_leaf leaf;
    leaf.kind = operand_kind::generator;
    constexpr dtype types[] = {dtype::f4, dtype::f8, dtype::u4};
    leaf.type = random.one_of(types);
    leaf.context = context;
    leaf.where = random_layout(random, context, purpose::read);
    if (random.chance(10)) leaf.where.offset += index_t{1} << 40;
    leaf.bits[0] = random();
    leaf.bits[1] = random() % 100;
    if (leaf.type == dtype::u4) leaf.last = static_cast<std::uint32_t>(random() >> (32 + random() % 32));
    return leaf;
}

std::vector<std::byte> materialised(const random_leaf& leaf) {
    const std::size_t bytes = size_of(leaf.type);
    std::vector<std::byte> out(static_cast<std::size_t>(size_of_shape(leaf.context)) * bytes);
    for_each_element(leaf.where, leaf.context, [&](std::size_t i, std::size_t element) {
        std::byte* to = out.data() + i * bytes;
        switch (leaf.kind) {
            case operand_kind::scalar:
                std::memcpy(to, &leaf.bits[0], bytes);
                break;
            case operand_kind::generator: {
                const float f = uniform_number<float>(leaf, element);
                const double d = uniform_number<double>(leaf, element);
                const std::uint32_t u = integer(leaf, element);
                if (leaf.type == dtype::u4)
                    std::memcpy(to, &u, sizeof u);
                else
                    leaf.type == dtype::f4 ? std::memcpy(to, &f, sizeof f) : std::memcpy(to, &d, sizeof d);
                break;
            }
            default:
                std::memcpy(to, leaf.bytes.data() + element * bytes, bytes);
        }
    });
    return out;
}

std::string describe(const random_leaf& leaf) {
    std::string text(name(leaf.type));
    if (leaf.kind == operand_kind::scalar) return text + "#" + std::to_string(leaf.bits[0]);
    if (leaf.kind == operand_kind::generator) text += "~";
    return text + to_text(leaf.where.extents()) + "/" +
           to_text({leaf.where.strides(), static_cast<std::size_t>(leaf.where.rank())}) + "+" +
           std::to_string(leaf.where.offset);
}

}  // namespace ingot::tests
