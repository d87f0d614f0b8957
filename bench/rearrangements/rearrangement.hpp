// A statement of views, gathers and joins as data: nodes, operands before what uses them, each with the shape of its
// result. Its values are small whole numbers, exact in every dtype, so that results can be compared bit for bit; what
// it must move is counted in the 32 bytes that memory moves at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ingot/core/dtype.hpp>
#include <ingot/core/shape.hpp>

#include "../mixed.hpp"

namespace bench {

using ingot::dtype;
using ingot::index_t;

enum class rearranging : std::uint8_t {
    leaf,
    slice,      // element i of an axis is start + step * i of the operand's
    transpose,  // axis j is the operand's axis order[j]
    broadcast,  // the operand's extent is 1 where the shape's is another
    gather,     // take along an axis
    join,       // concatenate along an axis
    roll,       // along an axis
    map         // of one or two operands
};
enum class mapping : std::uint8_t { twice, add, maximum, minimum };
enum class index_order : std::uint8_t { random, sorted, runs };

struct axis_slice {
    index_t start = 0, step = 1;
};

struct rearrangement_node {
    rearranging what = rearranging::leaf;
    std::vector<index_t> shape = {};
    std::vector<int> from = {};
    dtype type = dtype::f4;   // of a leaf, whose values are converted
    std::uint64_t place = 0;  // for a leaf: its first element in the pool
    std::vector<axis_slice> slices = {};
    std::vector<int> order = {};
    std::size_t axis = 0;
    index_t by = 0;  // for a roll
    index_order indices = index_order::random;
    bool short_indices = false;  // int32
    mapping op = mapping::add;
};

struct rearrangement {
    dtype type = dtype::f4;  // of the result
    std::vector<rearrangement_node> nodes = {};
    std::uint64_t seed = 0;

    const rearrangement_node& node(int i) const { return nodes[static_cast<std::size_t>(i)]; }
    const rearrangement_node& result() const { return nodes.back(); }
    const rearrangement_node& operand(const rearrangement_node& n, std::size_t i = 0) const { return node(n.from[i]); }

    std::vector<index_t> indices_of(int number) const {
        const rearrangement_node& n = node(number);
        const auto count = static_cast<std::uint64_t>(n.shape[n.axis]),
                   extent = static_cast<std::uint64_t>(operand(n).shape[n.axis]);
        const std::uint64_t from = seed + (static_cast<std::uint64_t>(number) << 40);
        std::vector<index_t> all(count);
        for (std::uint64_t i = 0; i < count; ++i) {
            std::uint64_t at = mixed(from + i) % extent;
            if (n.indices == index_order::sorted) at = (i * extent + at) / count;
            if (n.indices == index_order::runs) at = (mixed(from + i / 16) + i % 16) % extent;
            all[i] = static_cast<index_t>(at);
        }
        return all;
    }

    std::uint64_t bytes_written() const { return elements(result()) * bytes_of(type); }
    std::uint64_t bytes_read() const;

    static std::uint64_t elements(const rearrangement_node& n) {
        std::uint64_t product = 1;
        for (const index_t e : n.shape) product *= static_cast<std::uint64_t>(e);
        return product;
    }
    static std::uint64_t bytes_of(dtype t) { return static_cast<std::uint64_t>(ingot::detail::size_of(t)); }
};

/// An element of the pool of any dtype: a whole number from 0 to 15.
inline int pool_value(std::uint64_t i) { return static_cast<int>(mixed(i + 7) >> 60); }

namespace detail {

/// The elements of an axis that are read: start + step * i, or those of a list.
struct read_along {
    index_t start = 0, step = 1, count = 0;
    std::vector<index_t> list = {};
    bool is_list = false, scattered = false;

    template <class F>
    read_along each(F f) const {
        read_along to{.is_list = true, .scattered = scattered};
        for (index_t i = 0; i < count; ++i)
            to.list.push_back(f(is_list ? list[static_cast<std::size_t>(i)] : start + step * i));
        to.count = count;
        return to;
    }
    /// The elements from `low` to before `high`, counted from `low`.
    read_along between(index_t low, index_t high) const {
        if (!is_list && step == 1) {
            const index_t first = std::max(start, low), last = std::min(start + count, high);
            return {.start = first - low, .count = std::max<index_t>(last - first, 0)};
        }
        read_along to = each([](index_t i) { return i; });
        std::erase_if(to.list, [=](index_t i) { return i < low || i >= high; });
        to.count = static_cast<index_t>(to.list.size());
        return to.each([=](index_t i) { return i - low; });
    }
    void drop_repeated() {
        if (!is_list) return;
        std::ranges::sort(list);
        list.erase(std::unique(list.begin(), list.end()), list.end());
        count = static_cast<index_t>(list.size());
    }
};

/// Bytes that a chip can hold of elements that are read repeatedly.
inline constexpr std::uint64_t chip_bytes = std::uint64_t{1} << 25;
inline constexpr std::uint64_t sector = 32;

/// The bytes of a leaf that memory moves where elements of these numbers are read along its axes. What is read at
/// random from more than a chip holds is moved again for each element.
inline std::uint64_t bytes_moved(std::span<const index_t> shape, std::uint64_t item, std::vector<read_along> read) {
    std::uint64_t inner = item;
    for (std::size_t j = shape.size(); j-- > 0;) {
        inner *= static_cast<std::uint64_t>(shape[j]);
        read[j].scattered = read[j].scattered && inner > chip_bytes;
        if (!read[j].scattered) read[j].drop_repeated();
    }
    // Numbers within the row of as many axes as make 4 KiB; of a long regular axis the first 4096 stand for all.
    std::size_t row = shape.size();
    std::uint64_t extent = 1;
    std::vector<std::uint64_t> numbers{0};
    double alike = 1;
    while (row > 0 && extent * item < 4096 && !read[row - 1].scattered) {
        read_along& r = read[--row];
        if (!r.is_list && r.count > 4096) {
            alike *= static_cast<double>(r.count) / 4096;
            if (r.step < 0) r = {.start = r.start + r.step * (r.count - 1), .step = -r.step, .count = r.count};
            r.count = 4096;
        }
        std::vector<std::uint64_t> more;
        for (const index_t i : r.each([](index_t same) { return same; }).list)
            for (const std::uint64_t n : numbers) more.push_back(static_cast<std::uint64_t>(i) * extent + n);
        numbers = std::move(more);
        extent *= static_cast<std::uint64_t>(shape[row]);
    }
    std::ranges::sort(numbers);
    std::uint64_t sectors = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i)
        sectors += i == 0 || numbers[i] * item / sector != numbers[i - 1] * item / sector;
    double rows = alike;
    for (std::size_t j = 0; j < row; ++j) rows *= static_cast<double>(read[j].count);
    return static_cast<std::uint64_t>(rows * static_cast<double>(sectors * sector));
}

class read_bytes {
public:
    explicit read_bytes(const rearrangement& s) : s_(s) {}
    std::uint64_t of(int number, std::vector<read_along> read) const {
        const rearrangement_node& n = s_.node(number);
        const std::size_t rank = n.shape.size();
        for (const read_along& r : read)
            if (r.count == 0) return 0;
        switch (n.what) {
            case rearranging::leaf:
                return bytes_moved(n.shape, rearrangement::bytes_of(n.type), std::move(read));
            case rearranging::slice:
                for (std::size_t j = 0; j < rank; ++j) {
                    const axis_slice c = n.slices[j];
                    read_along& r = read[j];
                    if (r.is_list)
                        r = r.each([=](index_t i) { return c.start + c.step * i; });
                    else
                        r = {.start = c.start + c.step * r.start, .step = c.step * r.step, .count = r.count};
                }
                break;
            case rearranging::transpose: {
                std::vector<read_along> to(rank);
                for (std::size_t j = 0; j < rank; ++j) to[static_cast<std::size_t>(n.order[j])] = std::move(read[j]);
                read = std::move(to);
                break;
            }
            case rearranging::broadcast:
                for (std::size_t j = 0; j < rank; ++j)
                    if (s_.operand(n).shape[j] == 1) read[j] = {.count = 1};
                break;
            case rearranging::gather: {
                const auto indices = s_.indices_of(number);
                read_along& r = read[n.axis];
                const auto bytes = static_cast<std::uint64_t>(r.count) * (n.short_indices ? 4 : 8);
                r = r.each([&](index_t i) { return indices[static_cast<std::size_t>(i)]; });
                r.scattered = r.scattered || n.indices == index_order::random;
                return bytes + of(n.from[0], std::move(read));
            }
            case rearranging::join: {
                std::uint64_t sum = 0;
                index_t start = 0;
                for (const int from : n.from) {
                    const index_t end = start + s_.node(from).shape[n.axis];
                    auto part = read;
                    part[n.axis] = read[n.axis].between(start, end);
                    sum += of(from, std::move(part));
                    start = end;
                }
                return sum;
            }
            case rearranging::roll: {
                const index_t extent = n.shape[n.axis];
                read_along& r = read[n.axis];
                if (r.is_list || r.count != extent)
                    r = r.each([=, by = n.by](index_t i) { return ((i - by) % extent + extent) % extent; });
                break;
            }
            case rearranging::map: {
                std::uint64_t sum = 0;
                for (const int from : n.from) sum += of(from, read);
                return sum;
            }
        }
        return of(n.from[0], std::move(read));
    }

private:
    const rearrangement& s_;
};

class rearrangement_text {
public:
    explicit rearrangement_text(const rearrangement& s) : s_(s) {}
    std::string of(int number) const {
        const rearrangement_node& n = s_.node(number);
        const auto listed = [](const auto& values) {
            std::string text;
            for (const auto v : values) text += (text.empty() ? "" : ", ") + std::to_string(v);
            return text;
        };
        switch (n.what) {
            case rearranging::leaf:
                return "x" + std::to_string(number) + (n.type == s_.type ? "" : ":" + std::string(name_of(n.type))) +
                       "[" + listed(n.shape) + "]";
            case rearranging::slice: {
                std::string text;
                for (std::size_t j = 0; j < n.shape.size(); ++j) {
                    const axis_slice& c = n.slices[j];
                    text += j == 0 ? "" : ", ";
                    if (c.start != 0) text += std::to_string(c.start);
                    text += ":";
                    if (c.step != 1) text += ":" + std::to_string(c.step);
                }
                return of(n.from[0]) + "(" + text + ")";
            }
            case rearranging::transpose:
                return "permute_dims(" + of(n.from[0]) + ", {" + listed(n.order) + "})";
            case rearranging::broadcast:
                return "broadcast_to(" + of(n.from[0]) + ", {" + listed(n.shape) + "})";
            case rearranging::gather: {
                static constexpr const char* orders[] = {"random", "sorted", "runs"};
                return "take(" + of(n.from[0]) + ", " + std::to_string(n.shape[n.axis]) + " " +
                       orders[static_cast<int>(n.indices)] + (n.short_indices ? " i4" : "") + ", " +
                       std::to_string(n.axis) + ")";
            }
            case rearranging::join: {
                std::string parts;
                for (const int from : n.from) parts += (parts.empty() ? "" : ", ") + of(from);
                return "concatenate({" + parts + "}, " + std::to_string(n.axis) + ")";
            }
            case rearranging::roll:
                return "roll(" + of(n.from[0]) + ", " + std::to_string(n.by) + ", " + std::to_string(n.axis) + ")";
            case rearranging::map:
                if (n.op == mapping::twice) return of(n.from[0]) + " * 2";
                if (n.op == mapping::add) return "(" + of(n.from[0]) + " + " + of(n.from[1]) + ")";
                return std::string(n.op == mapping::maximum ? "maximum(" : "minimum(") + of(n.from[0]) + ", " +
                       of(n.from[1]) + ")";
        }
        return {};
    }

private:
    static std::string name_of(dtype t) { return std::string(ingot::name(t)); }
    const rearrangement& s_;
};

}  // namespace detail

/// Counts each leaf once for each occurrence, and the indices.
inline std::uint64_t rearrangement::bytes_read() const {
    std::vector<detail::read_along> all;
    for (const index_t e : result().shape) all.push_back({.count = e});
    return detail::read_bytes(*this).of(static_cast<int>(nodes.size()) - 1, std::move(all));
}

inline std::string text_of(const rearrangement& s) {
    return detail::rearrangement_text(s).of(static_cast<int>(s.nodes.size()) - 1);
}
inline std::string shape_text(const rearrangement& s) {
    return std::string(ingot::name(s.type)) + " " + ingot::detail::to_text(s.result().shape);
}

}  // namespace bench
