// Sparse matrices in .npz files, as scipy.sparse.save_npz and load_npz write and read them: the arrays of the format,
// its shape, and its name as a string of three bytes, which no array of Ingot's is.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <ingot/core/creation.hpp>
#include <ingot/core/host.hpp>
#include <ingot/files/npy.hpp>

#include "runtime/files/npy.hpp"
#include "runtime/files/output_file.hpp"
#include "runtime/files/zip_reader.hpp"
#include "runtime/files/zip_writer.hpp"
#include "runtime/sparse/triplets.hpp"

namespace ingot::sparse {

namespace {

/// The name of the format: what is printable behind the header of its array.
std::string format_in(const std::string& path) {
    const runtime::zip_reader archive(runtime::open_file("sparse::load_npz", path));
    const auto entry = std::ranges::find(archive.entries(), "format.npy", &runtime::zip_entry::name);
    if (entry == archive.entries().end())
        runtime::throw_file_error(archive.source().subject(),
                                  "has no array 'format'; a file of scipy.sparse.save_npz is wanted");
    const auto stream = archive.open(*entry, archive.source().subject() + ", format");
    if (stream->remaining() > 4096)
        runtime::throw_file_error(stream->subject(), "is longer than 4096 bytes; the name of a format is wanted");
    std::vector<std::byte> bytes(static_cast<std::size_t>(stream->remaining()));
    stream->read(bytes);
    std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    text.erase(0, text.rfind('\n') + 1);
    std::erase(text, '\0');  // of strings with four bytes for each character
    return text;
}

template <class I>
array<I> indices_in(const npz_file& file, const char* name) {
    return file.load_any(name, [&]<class V>(const array<V>& a) -> array<I> {
        if constexpr (std::integral<V> && !std::same_as<V, bool>)
            return array<I>(astype<I>(a));
        else
            throw dtype_error("[sparse::load_npz] the array " + std::string(name) + " holds " +
                              std::string(ingot::name(detail::dtype_of<V>)) + "; integers are wanted");
    });
}

/// Passes the bytes of a .npy file to the archive.
template <class V>
void add(runtime::zip_writer& archive, const std::string& name, const array<V>& a) {
    archive.begin_entry(name + ".npy");
    const detail::leaf<V> l = detail::contiguous_values_as<V>(a);
    runtime::write_npy(name, detail::dtype_of<V>, l.memory(), l.where(),
                       [&](std::span<const std::byte> bytes) { archive.append(bytes); });
    archive.end_entry();
}

void add_format(runtime::zip_writer& archive, std::string_view format) {
    std::string text("\x93NUMPY\x01\x00\x76\x00", 10);
    text += "{'descr': '|S3', 'fortran_order': False, 'shape': (), }";
    text.resize(127, ' ');
    text += '\n';
    text += format;
    archive.begin_entry("format.npy");
    archive.append(std::as_bytes(std::span(text)));
    archive.end_entry();
}

}  // namespace

template <sparse_element T, sparse_index I>
csr<T, I> load_npz(const std::string& path, const source_place& here) {
    const detail::in_statement of_the_user(here);
    const std::string format = format_in(path);
    const npz_file file = ingot::load_npz(path);
    const std::vector<index_t> extents = indices_in<index_t>(file, "shape").to_host();
    const shape_like shape(extents);
    const array<T> values = file.load<T>("data");
    if (format == "coo") {
        // The newer name of both is coords.
        if (file.contains("coords")) {
            const array<index_t> places = indices_in<index_t>(file, "coords");
            return coo<T, I>(values, places(0), places(1), shape).to_csr();
        }
        return coo<T, I>(values, indices_in<index_t>(file, "row"), indices_in<index_t>(file, "col"), shape).to_csr();
    }
    if (format != "csr" && format != "csc")
        runtime::throw_file_error("[sparse::load_npz] " + path,
                                  "has the format '" + format + "'; csr, csc or coo is wanted");
    const array<I> indices = indices_in<I>(file, "indices"), indptr = indices_in<I>(file, "indptr");
    if (format == "csr") return csr<T, I>(values, indices, indptr, shape);
    const matrix_extents e = extents_of("sparse::load_npz", shape);
    return csc<T, I>(csr<T, I>(values, indices, indptr, {e.columns, e.rows})).to_csr();
}

template <sparse_element T, sparse_index I>
void save_npz(const std::string& path, const csr<T, I>& a, const source_place& here) {
    const detail::in_statement of_the_user(here);
    runtime::output_file file("sparse::save_npz", path);
    runtime::zip_writer archive(file, false);
    const shape_like shape = a.shape();
    add(archive, "indices", a.indices());
    add(archive, "indptr", a.indptr());
    add_format(archive, "csr");
    add(archive, "shape", array<index_t>{shape[0], shape[1]});
    add(archive, "data", a.values());
    archive.finish();
    file.publish();
}

#define INGOT_FILES(T, I)                                                                 \
    template INGOT_API csr<T, I> load_npz<T, I>(const std::string&, const source_place&); \
    template INGOT_API void save_npz(const std::string&, const csr<T, I>&, const source_place&);
INGOT_SPARSE_TYPES(INGOT_FILES)

}  // namespace ingot::sparse
