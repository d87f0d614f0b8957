// Distributed arrays in .npy files. Rank 0 makes the file and its header, every rank writes its own elements, and the
// file appears when all have. Reading, every rank reads its own elements of the same file.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <optional>

#include <ingot/core/error.hpp>
#include <ingot/distributed/arrays.hpp>

#include "runtime/device/copy_view.hpp"
#include "runtime/device/transfer.hpp"
#include "runtime/distributed/files.hpp"
#include "runtime/distributed/plan.hpp"
#include "runtime/distributed/storage.hpp"
#include "runtime/files/byte_source.hpp"
#include "runtime/files/elements.hpp"
#include "runtime/files/npy_header.hpp"
#include "runtime/files/output_file.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/system/file_descriptor.hpp"

namespace ingot::runtime {

namespace {

/// Calls f(first element in the array's C order, count) for each run of a box's elements, in C order.
void for_each_run(std::span<const index_t> shape, const box& part, const std::function<void(index_t, index_t)>& f) {
    if (size_of_box(part) == 0) return;
    std::size_t inner = shape.size();  // axes from here on are whole
    index_t run = 1;
    while (inner > 0 && part[inner - 1].size() == shape[inner - 1]) run *= shape[--inner];
    if (inner > 0) run *= part[--inner].size();
    std::vector<index_t> at;
    for (const range& r : part) at.push_back(r.low);
    while (true) {
        index_t first = 0;
        for (std::size_t k = 0; k < shape.size(); ++k) first = first * shape[k] + at[k];
        f(first, run);
        std::size_t k = inner;
        while (k > 0 && ++at[k - 1] == part[k - 1].high) {
            at[k - 1] = part[k - 1].low;
            --k;
        }
        if (k == 0) return;
    }
}

bool write_at(int file, std::span<const std::byte> bytes, off_t at) {
    while (!bytes.empty()) {
        const ssize_t n = ::pwrite(file, bytes.data(), bytes.size(), at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(n));
        at += n;
    }
    return true;
}

/// This rank's part in C order.
buffer_ref contiguous_part(const distributed_storage& s) {
    buffer_ref part;
    detail::layout where;
    copy_view(s.type, *s.memory, s.owned, part, where);
    return part;
}

}  // namespace

void save_parts(const std::string& path, const buffer& of) {
    begin_call("save", storage_of(of));
    const distributed_storage& s = storage_of(of);
    rank_group& group = *s.session().group;
    const std::string subject = "[save] " + path;
    const std::string header = npy_header_of(subject, s.type, s.where->shape);
    std::optional<output_file> file;
    std::string place, failure;
    if (group.rank == 0) try {
            file.emplace("save", path);
            file->append(std::as_bytes(std::span(header)));
            place = file->temporary().string();
        } catch (const std::exception& e) {
            failure = e.what();
        }
    const std::vector<std::byte> name = group.broadcast(std::as_bytes(std::span(place)));
    place.assign(reinterpret_cast<const char*>(name.data()), name.size());
    if (!place.empty() && s.owned.size() > 0) {
        const file_descriptor own(::open(place.c_str(), O_WRONLY | O_CLOEXEC));
        const buffer_ref part = contiguous_part(s);
        const auto each = static_cast<index_t>(detail::size_of(s.type));
        std::vector<std::byte> run;
        index_t done = 0;
        for_each_run(s.where->shape, s.where->box_of(group.rank), [&](index_t first, index_t count) {
            const auto bytes = static_cast<std::size_t>(count * each);
            run.resize(bytes);
            copy_to_host(*part, static_cast<std::size_t>(done * each), bytes, run.data(),
                         *context_on(s.session().device).stream);
            done += count;
            const auto at = static_cast<off_t>(header.size()) + first * each;
            if (failure.empty() && (!own || !write_at(own.get(), run, at))) failure = std::strerror(errno);
        });
    }
    const bool is_good = group.all_agree(failure.empty() && !place.empty());
    if (is_good && group.rank == 0) try {
            file->publish();
        } catch (const std::exception& e) {
            failure = e.what();
        }
    if (!group.all_agree(failure.empty()) || !is_good)
        throw file_error(failure.starts_with(subject)
                             ? failure
                             : subject + ": " + (failure.empty() ? "another rank could not write its part" : failure));
}

}  // namespace ingot::runtime

namespace ingot::detail::parts {

void load_parts(const std::string& path, destination to, const distributed::partition& p) {
    using namespace runtime;
    const std::unique_ptr<byte_source> source = open_file("load", path);
    source_stream stream(*source);
    const npy_contents file = read_npy_header(stream);
    if (file.type != to.type)
        throw dtype_error(source->subject() + ": holds " + std::string(name(file.type)) + ", and " +
                          std::string(name(to.type)) + " is wanted");
    if (file.fortran_order && file.shape.count() > 1)
        throw file_error(source->subject() +
                         ": is in Fortran order, which ranks do not read in parts; load it by "
                         "ingot::load, then distributed::redistribute it");
    make_distributed("distributed::load", to, file.shape.values(), p);
    const std::uint64_t begin = source->size() - stream.remaining();
    const std::size_t each = size_of(to.type);
    const bool in_parts = is_distributed(to.memory.get());
    box part;
    if (in_parts) {
        const distributed_storage& s = storage_of(*to.memory);
        part = s.where->box_of(s.session().rank);
    } else {
        for (const index_t extent : file.shape.values()) part.push_back({0, extent});
    }
    const auto count = static_cast<std::size_t>(size_of_box(part));
    if (count == 0) return;
    std::vector<std::byte> bytes(count * each);
    std::size_t done = 0;
    for_each_run(file.shape.values(), part, [&](index_t first, index_t run) {
        const std::span<std::byte> piece = std::span(bytes).subspan(done, static_cast<std::size_t>(run) * each);
        source->read(begin + static_cast<std::uint64_t>(first) * each, piece);
        done += piece.size();
    });
    memory_source read(source->subject(), bytes);
    source_stream elements(read);
    std::vector<std::byte> converted(bytes.size());
    read_elements(elements, file, converted);
    stream_state& on = *runtime::current().stream;
    if (!in_parts) return copy_from_host(*to.memory, 0, converted.size(), converted.data(), on);
    distributed_storage& s = storage_of(*to.memory);
    const buffer_ref whole =
        allocate_buffer(converted.size(), s.session().device, *context_on(s.session().device).stream);
    copy_from_host(*whole, 0, converted.size(), converted.data(), on);
    copy_view(to.type, *whole, contiguous_layout(s.owned.extents()), s.memory, s.owned);
}

}  // namespace ingot::detail::parts
