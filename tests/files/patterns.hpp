// Arrays whose bytes follow from their positions, as in tests/oracle/files.py.
#pragma once

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <ingot/ingot.hpp>

namespace ingot::test {

inline std::vector<std::byte> pattern(dtype type, std::size_t bytes) {
    std::vector<std::byte> values(bytes);
    for (std::size_t i = 0; i < bytes; ++i) {
        const std::size_t value = (i * 37 + 11) % 251;
        values[i] = static_cast<std::byte>(type == dtype::b1 ? value % 2 : value);
    }
    return values;
}

template <class T>
array<T> made(const shape_like& shape) {
    detail::leaf<T> l;
    index_t n = 1;
    for (const index_t extent : shape) n *= extent;
    detail::create_from_host(l.memory(), l.where(), shape.values(),
                             pattern(detail::dtype_of<T>, static_cast<std::size_t>(n) * sizeof(T)).data(), sizeof(T));
    return array<T>(detail::adopted{}, l);
}

/// Whether an array has the elements that `made` gives it.
template <class T>
bool is_made(const array<T>& x) {
    const auto n = static_cast<std::size_t>(x.size());
    const detail::value_room<T> values(n);
    detail::read("test", x, values.get(), n);
    const std::vector<std::byte> wanted = pattern(x.dtype(), n * sizeof(T));
    return n == 0 || std::memcmp(values.get(), wanted.data(), wanted.size()) == 0;
}

/// f.template operator()<T>() for each dtype that NumPy has.
template <std::size_t I = 0, class F>
void for_each_numpy_type(const F& f) {
    constexpr auto type = static_cast<dtype>(I);
    if constexpr (type != dtype::bf) f.template operator()<detail::type_of<type>>();
    if constexpr (I + 1 < detail::dtype_count) for_each_numpy_type<I + 1>(f);
}

inline std::string content(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}
inline void write_file(const std::filesystem::path& file, std::string_view bytes) {
    std::ofstream(file, std::ios::binary) << bytes;
}

/// A .npy file with this dict and these bytes of elements.
inline std::string npy_file(const std::string& dict, const std::string& elements, int version = 1) {
    std::string file = "\x93NUMPY";
    file += static_cast<char>(version);
    file += '\0';
    for (int i = 0; i < (version == 1 ? 2 : 4); ++i) file += static_cast<char>(dict.size() >> 8 * i & 0xff);
    return file + dict + elements;
}

/// The text of the exception of type E that f throws.
template <class E, class F>
std::string thrown(F&& f) {
    try {
        f();
    } catch (const E& e) {
        return e.what();
    }
    return "nothing was thrown";
}

}  // namespace ingot::test
