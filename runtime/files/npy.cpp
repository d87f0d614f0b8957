// See npy.hpp.
#include "runtime/files/npy.hpp"

#include <algorithm>
#include <functional>
#include <ingot/core/creation.hpp>
#include <ingot/core/error.hpp>
#include <vector>

#include "runtime/device/copy_view.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/transfer.hpp"
#include "runtime/files/elements.hpp"

namespace ingot::runtime {

namespace {

constexpr std::size_t ordered_piece = std::size_t{1} << 24;  // of elements in Fortran order; enough to fill a GPU

void read_in_c_order(byte_stream& from, const npy_contents& file, buffer& to, std::size_t bytes) {
    write_in_pieces(to, 0, bytes, *current().stream,
                    [&](std::span<std::byte> piece) { read_elements(from, file, piece); });
}

/// An axis of more than one element, in the file's order, the slowest first.
struct file_axis {
    index_t extent, stride;  // of the array in C order
};

/// Reads elements in Fortran order in pieces into a temporary, and copies them by a kernel to their positions. They are
/// moved as integers, so that every bit of a NaN is kept.
class fortran_reader {
public:
    fortran_reader(byte_stream& from, const npy_contents& file, const detail::destination& to)
        : from_(from), file_(file), to_(to) {
        const std::size_t each = detail::size_of(file.type);
        unit_ = each == 1 ? dtype::u1 : each == 2 ? dtype::u2 : each == 4 ? dtype::u4 : dtype::u8;
        const auto units = static_cast<index_t>(each / detail::size_of(unit_));
        const detail::layout& where = to.where;
        for (int j = where.rank() - 1; j >= 0; --j)
            if (where.shape()[j] > 1) axes_.push_back({where.shape()[j], where.strides()[j] * units});
        if (units > 1) axes_.push_back({units, 1});
    }

    void read() { read_from(0, 0); }

private:
    /// Reads the elements below an index of the axes before `axis`; they lie at `offset` of the array.
    void read_from(std::size_t axis, index_t offset) {
        index_t below = static_cast<index_t>(detail::size_of(unit_));  // bytes of one step along the axis
        for (std::size_t j = axis + 1; j < axes_.size(); ++j) below *= axes_[j].extent;
        const auto most = static_cast<index_t>(ordered_piece);
        const auto [extent, stride] = axes_[axis];
        if (below > most && axis + 1 < axes_.size()) {
            for (index_t i = 0; i < extent; ++i) read_from(axis + 1, offset + i * stride);
            return;
        }
        const index_t steps = std::max<index_t>(1, most / below);
        for (index_t i = 0; i < extent; i += steps)
            read_piece(axis, std::min(steps, extent - i), below, offset + i * stride);
    }
    void read_piece(std::size_t axis, index_t steps, index_t below, index_t offset) {
        std::vector<index_t> shape{steps};
        detail::layout target(static_cast<int>(axes_.size() - axis));
        for (std::size_t j = axis; j < axes_.size(); ++j) {
            if (j > axis) shape.push_back(axes_[j].extent);
            target.shape()[j - axis] = shape.back();
            target.strides()[j - axis] = axes_[j].stride;
        }
        target.offset = offset;
        const auto bytes = static_cast<std::size_t>(steps * below);
        if (!piece_ || piece_->bytes < bytes) piece_ = allocate_buffer(bytes);
        read_in_c_order(from_, file_, *piece_, bytes);
        copy_view(unit_, *piece_, detail::contiguous_layout(shape), to_.memory, target);
    }

    byte_stream& from_;
    const npy_contents& file_;
    const detail::destination& to_;
    dtype unit_;
    std::vector<file_axis> axes_;
    buffer_ref piece_;
};

}  // namespace

void read_npy(byte_stream& from, detail::destination to) {
    const npy_contents file = read_npy_header(from);
    if (file.type != to.type)
        throw dtype_error(from.subject() + ": holds " + std::string(name(file.type)) + ", and " +
                          std::string(name(to.type)) + " is wanted");
    detail::allocate_array("load", to, file.shape.values(), current().device);
    const auto moving = std::count_if(file.shape.begin(), file.shape.end(), [](index_t n) { return n != 1; });
    if (file.fortran_order && moving > 1 && file.bytes > 0)
        fortran_reader(from, file, to).read();
    else
        read_in_c_order(from, file, *to.memory, static_cast<std::size_t>(file.bytes));
}

void write_npy(const std::string& subject, dtype type, const buffer_ref& memory, const detail::layout& where,
               const std::function<void(std::span<const std::byte>)>& write) {
    const std::string header = npy_header_of(subject, type, where.extents());
    write(std::as_bytes(std::span(header)));
    const std::size_t each = detail::size_of(type);
    const std::size_t bytes = static_cast<std::size_t>(where.size()) * each;
    if (bytes == 0) return;
    read_in_pieces(*memory, static_cast<std::size_t>(where.offset) * each, bytes, *current().stream, write);
}

}  // namespace ingot::runtime
