// See copy_complement.hpp. The pieces are cut axis by axis, outermost first: the part before the box and the part
// behind it, within the box on earlier axes and whole on later ones.
#include "runtime/device/copy_complement.hpp"

#include <cstdlib>
#include <vector>

#include "runtime/device/copy_view.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/transfer.hpp"

namespace ingot::runtime {

using detail::index_t;
using detail::layout;

namespace {

/// Copying this many bytes takes as long as a launch, some 3 us.
constexpr std::size_t worth_a_launch = std::size_t{8} << 20;

struct range {
    index_t begin, end;
};

/// The ranges that the view covers on the axes of the whole; empty where the view is not a box of adjacent elements.
std::vector<range> box_of(const layout& whole, const layout& part) {
    index_t first = part.offset - whole.offset;
    for (int a = 0; a < part.rank(); ++a)
        if (part.strides()[a] < 0) first += part.strides()[a] * (part.shape()[a] - 1);
    std::vector<range> box;
    for (int j = 0; j < whole.rank(); ++j) {
        const index_t begin = whole.shape()[j] == 1 ? 0 : first / whole.strides()[j];
        first -= begin * whole.strides()[j];
        box.push_back({begin, begin + 1});
    }
    for (int a = 0; a < part.rank(); ++a) {
        if (part.shape()[a] == 1) continue;
        int j = 0;
        while (j < whole.rank() && (whole.shape()[j] == 1 || whole.strides()[j] != std::abs(part.strides()[a]))) ++j;
        if (j == whole.rank()) return {};
        range& r = box[static_cast<std::size_t>(j)];
        if (r.end != r.begin + 1) return {};
        r.end = r.begin + part.shape()[a];
    }
    return box;
}

/// Copies a box of elements to the same position in the other buffer.
void copy_box(dtype type, const buffer& from, buffer_ref& to, const layout& whole, const std::vector<range>& box) {
    layout where = whole;
    for (std::size_t j = 0; j < box.size(); ++j) {
        where.offset += box[j].begin * whole.strides()[j];
        where.shape()[j] = box[j].end - box[j].begin;
    }
    if (where.size() == 0) return;
    copy_view(type, from, where, to, where);
}

}  // namespace

void copy_complement(dtype type, buffer& from, buffer_ref& to, const layout& whole, const layout& part) {
    const std::vector<range> box = box_of(whole, part);
    const auto complement_bytes = static_cast<std::size_t>(whole.size() - part.size()) * detail::size_of(type);
    if (box.empty() || (complement_bytes != 0 && from.bytes < worth_a_launch))
        return copy(*to, 0, from, 0, from.bytes, *current().stream);
    std::vector<range> piece;
    for (int j = 0; j < whole.rank(); ++j) piece.push_back({0, whole.shape()[j]});
    for (std::size_t j = 0; j < box.size(); ++j) {
        const range all = piece[j];
        piece[j] = {all.begin, box[j].begin};
        copy_box(type, from, to, whole, piece);
        piece[j] = {box[j].end, all.end};
        copy_box(type, from, to, whole, piece);
        piece[j] = box[j];
    }
}

}  // namespace ingot::runtime
