// Arrays in files: the functions behind include/ingot/files/npy.hpp.
#include <ingot/files/npy.hpp>

#include <algorithm>
#include <exception>
#include <ingot/core/error.hpp>
#include <memory>
#include <optional>
#include <string_view>

#include "runtime/device/copy_view.hpp"
#include "runtime/files/npy.hpp"
#include "runtime/files/zip_reader.hpp"
#include "runtime/files/zip_writer.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/system/warning.hpp"

namespace ingot {

namespace {

constexpr std::string_view npy_suffix = ".npy";

npy_header public_part(const runtime::npy_contents& file) { return {file.type, file.shape, file.fortran_order}; }

std::string without_suffix(const std::string& name) {
    return name.ends_with(npy_suffix) ? name.substr(0, name.size() - npy_suffix.size()) : name;
}

}  // namespace

namespace runtime {

class npz_archive {
public:
    explicit npz_archive(std::unique_ptr<byte_source> source) : archive_(std::move(source)) {}

    const std::vector<zip_entry>& entries() const { return archive_.entries(); }
    /// The last entry with this name, as in Python; null where there is none. The suffix may be given.
    const zip_entry* find(const std::string& name) const {
        for (const std::string& full : {name + std::string(npy_suffix), name}) {
            const auto found =
                std::find_if(entries().rbegin(), entries().rend(), [&](const zip_entry& e) { return e.name == full; });
            if (found != entries().rend()) return &*found;
        }
        return nullptr;
    }
    std::unique_ptr<byte_stream> open(const std::string& name) const {
        const zip_entry* const entry = find(name);
        const std::string& subject = archive_.source().subject();
        if (!entry) throw_file_error(subject, "has no array '" + name + "', and " + all_names());
        return archive_.open(*entry, subject + ", " + name);
    }

private:
    std::string all_names() const {
        std::string names;
        for (const zip_entry& e : entries()) names += (names.empty() ? "" : ", ") + without_suffix(e.name);
        return names.empty() ? "is empty" : "has " + names;
    }

    zip_reader archive_;
};

class npz_output {
public:
    npz_output(const std::string& path, bool compressed) : file_("save", path), archive_(file_, compressed) {}

    void save(const std::string& name, dtype type, const buffer_ref& memory, const detail::layout& where) {
        const std::string full = name + std::string(npy_suffix);
        const std::string subject = file_.subject() + ", " + name;
        if (std::ranges::any_of(archive_.entries(), [&](const zip_entry& e) { return e.name == full; }))
            throw_file_error(subject, "there is an array of this name already");
        const std::size_t before = archive_.entries().size();
        try {
            archive_.begin_entry(full);
            write_npy(subject, type, memory, where, [&](std::span<const std::byte> bytes) { archive_.append(bytes); });
            archive_.end_entry();
        } catch (...) {
            archive_.drop_entries(before);
            throw;
        }
    }
    void publish() {
        archive_.finish();
        file_.publish();
    }

private:
    output_file file_;
    zip_writer archive_;
};

}  // namespace runtime

namespace detail {

void save_elements(const std::string& path, dtype type, const buffer_ref& memory, const layout& where) {
    if (memory && memory->device.kind() == device_kind::distributed) {
        if (is_whole(memory, where, size_of(type))) return runtime::for_distributed.load()->save(path, *memory);
        buffer_ref computed;  // of a view
        layout whole;
        runtime::copy_view(type, *memory, where, computed, whole);
        return save_elements(path, type, computed, whole);
    }
    runtime::output_file file("save", path);
    runtime::write_npy(file.subject(), type, memory, where,
                       [&](std::span<const std::byte> bytes) { file.append(bytes); });
    file.publish();
}

void load_elements(const std::string& path, destination to) {
    const std::unique_ptr<runtime::byte_source> file = runtime::open_file("load", path);
    runtime::source_stream stream(*file);
    runtime::read_npy(stream, to);
}

npy_header npy_header_of(const char* operation, const std::string& path) {
    const std::unique_ptr<runtime::byte_source> file = runtime::open_file(operation, path);
    runtime::source_stream stream(*file);
    return public_part(runtime::read_npy_header(stream));
}

}  // namespace detail

npy_header npy_info(const std::string& path) { return detail::npy_header_of("npy_info", path); }

npz_file load_npz(const std::string& path) {
    return npz_file(new runtime::npz_archive(runtime::open_file("load_npz", path)));
}

namespace {

const runtime::npz_archive& opened(const runtime::npz_archive* archive) {
    if (!archive) runtime::throw_file_error("[load_npz] a file", "this object was moved from");
    return *archive;
}

}  // namespace

npz_file::~npz_file() { delete archive_; }

std::vector<std::string> npz_file::names() const {
    std::vector<std::string> names;
    for (const runtime::zip_entry& e : opened(archive_).entries()) names.push_back(without_suffix(e.name));
    return names;
}

bool npz_file::contains(const std::string& name) const { return opened(archive_).find(name) != nullptr; }

npy_header npz_file::info(const std::string& name) const {
    return public_part(runtime::read_npy_header(*opened(archive_).open(name)));
}

void npz_file::load_elements(const std::string& name, detail::destination to) const {
    runtime::read_npy(*opened(archive_).open(name), to);
}

npz_writer::npz_writer(const std::string& path)
    : output_(new runtime::npz_output(path, false)), exceptions_(std::uncaught_exceptions()) {}
npz_writer::npz_writer(const std::string& path, compressed_t)
    : output_(new runtime::npz_output(path, true)), exceptions_(std::uncaught_exceptions()) {}

npz_writer::~npz_writer() {
    try {
        if (output_ && std::uncaught_exceptions() == exceptions_) close();
    } catch (const std::exception& reason) {
        runtime::warn_once(reason.what());
    }
    delete output_;
}

void npz_writer::close() {
    if (!output_) return;
    const std::unique_ptr<runtime::npz_output> output(std::exchange(output_, nullptr));
    output->publish();
}

void npz_writer::save_elements(const std::string& name, dtype type, const detail::buffer_ref& memory,
                               const detail::layout& where) {
    if (!output_) runtime::throw_file_error("[save] " + name, "the .npz file was closed already");
    output_->save(name, type, memory, where);
}

}  // namespace ingot
