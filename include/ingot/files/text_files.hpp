// Arrays in text files and raw binary files, as NumPy reads and writes them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <ingot/files/npy.hpp>

namespace ingot {

/// The options of `loadtxt`.
struct loadtxt_options {
    std::string comments = "#";            ///< begins a comment; empty: there are none
    std::string delimiter = "";            ///< between numbers; empty: any white space
    index_t skiprows = 0;                  ///< number of lines to skip at the top
    std::vector<index_t> usecols = {};     ///< columns to read, from 0, negative ones from the end
    std::optional<index_t> max_rows = {};  ///< maximum number of rows
    int ndmin = 0;                         ///< minimum number of axes, at most 2
    bool unpack = false;                   ///< transposed: a row for each column
};

/// The options of `savetxt`.
struct savetxt_options {
    std::string fmt = "%.18e";    ///< C's printf format of a number, or of a complex number's parts
    std::string delimiter = " ";  ///< between numbers
    std::string newline = "\n";   ///< behind each row
    std::string header = "";      ///< written above, behind `comments`
    std::string footer = "";      ///< written below, behind `comments`
    std::string comments = "# ";  ///< before lines of the header and the footer
};

/// The options of `fromfile`.
struct fromfile_options {
    index_t count = -1;    ///< number of elements; -1: all
    std::string sep = "";  ///< between numbers as text; empty: elements as bytes
    index_t offset = 0;    ///< number of bytes to skip at the beginning
};

namespace detail {

INGOT_API void load_text(const std::string& path, const loadtxt_options&, destination to);
INGOT_API void save_text(const std::string& path, const savetxt_options&, dtype, const buffer_ref&, const layout&);
INGOT_API void read_elements(const std::string& path, const fromfile_options&, destination to);
INGOT_API void write_elements(const std::string& path, const std::string& sep, dtype, const buffer_ref&, const layout&);

}  // namespace detail

/// The numbers in a text file, a row in each line, as an array on the current device: by default float64, with the axes
/// that have more than one element. Throws file_error where the file cannot be read, and, with the line's number, where
/// a line has another number of columns or a field that is no number.
///
///     savetxt("table.txt", array<double>{{1, 2.5}, {3, 4}}, {.fmt = "%g", .delimiter = ",", .header = "a,b"});
///     std::cout << loadtxt("table.txt", {.delimiter = ","}) << ' ' << loadtxt<int>("table.txt", {.delimiter = ",",
///                                                                                           .usecols = {0}});
///     // prints: [[1.  2.5]
///     //          [3.  4. ]] [1 3]
template <element_type T = double>
array<T> loadtxt(const std::string& path, const loadtxt_options& options = {}) {
    detail::leaf<T> l;
    detail::load_text(path, options, {detail::dtype_of<T>, l.memory(), l.where()});
    return array<T>(detail::adopted{}, std::move(l));
}

/// Writes the values of an expression with one or two axes as text, a row in each line. The file appears when it is
/// complete. Throws shape_error for any other rank, dtype_error where `fmt` is no format for one number, file_error
/// where the file cannot be written.
///
///     savetxt("squares.txt", array<int>{1, 4, 9}, {.fmt = "%d"});
///     std::cout << loadtxt<int>("squares.txt");
///     // prints: [1 4 9]
template <array_expression E>
void savetxt(const std::string& path, const E& e, const savetxt_options& options = {}) {
    const auto values = detail::contiguous_values_as<typename E::value_type>(e);
    detail::save_text(path, options, E::type, values.memory(), values.where());
}

/// The elements in a file that `tofile` wrote: a vector on the current device, by default float64. The file itself does
/// not tell the type. Throws file_error where it cannot be read, has fewer elements than requested, or ends within one.
///
///     tofile("raw.bin", array<float>{{1, 2}, {3, 4}});
///     std::cout << fromfile<float>("raw.bin") << ' ' << fromfile<float>("raw.bin", {.count = 2, .offset = 4});
///     // prints: [1. 2. 3. 4.] [2. 3.]
template <element_type T = double>
array<T> fromfile(const std::string& path, const fromfile_options& options = {}) {
    detail::leaf<T> l;
    detail::read_elements(path, options, {detail::dtype_of<T>, l.memory(), l.where()});
    return array<T>(detail::adopted{}, std::move(l));
}

/// Writes only the values of an expression in C order: their bytes, or numbers as text with `sep` between them. The
/// file appears when it is complete. Throws file_error where it cannot be written.
///
///     tofile("numbers.txt", array<int>{1, 2, 3}, ", ");
///     std::cout << fromfile<int>("numbers.txt", {.sep = ","});
///     // prints: [1 2 3]
template <array_expression E>
void tofile(const std::string& path, const E& e, const std::string& sep = "") {
    const auto values = detail::contiguous_values_as<typename E::value_type>(e);
    detail::write_elements(path, sep, E::type, values.memory(), values.where());
}

}  // namespace ingot
