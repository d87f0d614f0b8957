// Arrays as text and as raw bytes: the functions behind include/ingot/files/text_files.hpp.
#include <ingot/files/text_files.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

#include <ingot/core/error.hpp>

#include "runtime/files/byte_source.hpp"
#include "runtime/files/output_file.hpp"
#include "runtime/functions/print.hpp"

namespace ingot::detail {

namespace {

using runtime::throw_file_error;
using runtime::write_file;

constexpr std::string_view white = " \t\r\n\v\f";

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(white);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(white) + 1 - first);
}

// ---- numbers from text ---------------------------------------------------------------------------------------------

/// Takes a number from the front of a text; returns whether there is one. Infinities and NaN have C's names.
template <class T>
bool take_number(std::string_view& text, T& value) {
    std::string_view rest = text;
    if (rest.size() > 1 && rest[0] == '+' && rest[1] != '-') rest.remove_prefix(1);
    const auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (status == std::errc::result_out_of_range && std::is_floating_point_v<T>) {
        // A number beyond the type's range becomes infinite, or 0, as with strtod.
        value = static_cast<T>(std::strtod(std::string(rest.data(), end).c_str(), nullptr));
    } else if (status != std::errc()) {
        return false;
    }
    text = std::string_view(end, static_cast<std::size_t>(text.data() + text.size() - end));
    return true;
}

/// Takes an element of T from the front of a text.
template <class T>
bool take_element(std::string_view& text, T& value) {
    if constexpr (std::same_as<T, bool>) {
        long long number = 0;
        const bool found = take_number(text, number);
        value = number != 0;
        return found;
    } else if constexpr (half_float<T>) {
        double number = 0;
        const bool found = take_number(text, number);
        value = T(number);
        return found;
    } else if constexpr (complex_number<T>) {
        // Accepts 1, 2j, 1+2j, and these in parentheses.
        std::string_view rest = text;
        const bool in_parentheses = !rest.empty() && rest[0] == '(';
        if (in_parentheses) rest.remove_prefix(1);
        typename T::value_type part[2] = {0, 0};
        if (!take_number(rest, part[0])) return false;
        if (!rest.empty() && rest[0] == 'j') {
            std::swap(part[0], part[1]);
            rest.remove_prefix(1);
        } else if (!rest.empty() && (rest[0] == '+' || rest[0] == '-')) {
            if (!take_number(rest, part[1]) || rest.empty() || rest[0] != 'j') return false;
            rest.remove_prefix(1);
        }
        if (in_parentheses) {
            if (rest.empty() || rest[0] != ')') return false;
            rest.remove_prefix(1);
        }
        text = rest;
        value = T(part[0], part[1]);
        return true;
    } else {
        return take_number(text, value);
    }
}

std::string whole_text(const runtime::byte_source& file) {
    std::string text(static_cast<std::size_t>(file.size()), '\0');
    file.read(0, std::as_writable_bytes(std::span(text)));
    return text;
}

// ---- tables --------------------------------------------------------------------------------------------------------

class table_reader {
public:
    table_reader(const std::string& path, const loadtxt_options& options)
        : options_(options), file_(runtime::open_file("loadtxt", path)), text_(whole_text(*file_)) {}

    template <class T>
    void read(std::vector<T>& values, index_t& rows, index_t& columns) {
        std::string_view rest = text_;
        std::vector<std::string_view> fields;
        for (index_t line = 1; !rest.empty(); ++line) {
            std::string_view text = rest.substr(0, rest.find('\n'));
            rest.remove_prefix(std::min(text.size() + 1, rest.size()));
            if (line <= options_.skiprows) continue;
            if (options_.max_rows && rows >= *options_.max_rows) break;
            if (!options_.comments.empty()) text = text.substr(0, text.find(options_.comments));
            if (trimmed(text).empty()) continue;
            split(text, fields);
            keep_columns(line, fields);
            if (rows == 0) columns = static_cast<index_t>(fields.size());
            if (static_cast<index_t>(fields.size()) != columns)
                fail(line, "has " + std::to_string(fields.size()) + " columns, and the first one has " +
                               std::to_string(columns));
            for (const std::string_view field : fields) {
                T value{};
                std::string_view left = field;
                if (!take_element(left, value) || !left.empty())
                    fail(line, "'" + std::string(field) + "' is no " + std::string(name(dtype_of<T>)));
                values.push_back(value);
            }
            ++rows;
        }
    }

private:
    void split(std::string_view text, std::vector<std::string_view>& fields) const {
        fields.clear();
        if (options_.delimiter.empty()) {
            for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
                fields.push_back(text.substr(0, text.find_first_of(white)));
                text.remove_prefix(fields.back().size());
            }
            return;
        }
        while (true) {
            const std::size_t end = text.find(options_.delimiter);
            fields.push_back(trimmed(text.substr(0, end)));
            if (end == std::string_view::npos) return;
            text.remove_prefix(end + options_.delimiter.size());
        }
    }
    void keep_columns(index_t line, std::vector<std::string_view>& fields) const {
        if (options_.usecols.empty()) return;
        std::vector<std::string_view> kept;
        const auto count = static_cast<index_t>(fields.size());
        for (const index_t column : options_.usecols) {
            if (column < -count || column >= count)
                fail(line, "has no column " + std::to_string(column) + ", but " + std::to_string(count));
            kept.push_back(fields[static_cast<std::size_t>(column < 0 ? column + count : column)]);
        }
        fields = std::move(kept);
    }
    [[noreturn]] void fail(index_t line, const std::string& what) const {
        throw_file_error(file_->subject(), "line " + std::to_string(line) + ": " + what);
    }

    const loadtxt_options& options_;
    std::unique_ptr<runtime::byte_source> file_;
    std::string text_;
};

/// The shape of a table as in NumPy: axes of one element are dropped unless `ndmin` wants them.
std::vector<index_t> shape_of_table(index_t rows, index_t columns, const loadtxt_options& options) {
    std::vector<index_t> shape{rows, columns};
    if (rows == 0 && options.ndmin < 2) return {0};
    if (options.unpack) std::swap(shape[0], shape[1]);
    if (options.ndmin < 2) std::erase(shape, 1);
    if (shape.empty() && options.ndmin == 1) shape = {1};
    return shape;
}

template <class T>
void put(destination to, const std::vector<T>& values, std::span<const index_t> shape) {
    if constexpr (std::same_as<T, bool>) {
        const value_room<bool> room(values.size());
        std::copy(values.begin(), values.end(), room.get());
        create_from_host(to.memory, to.where, shape, room.get(), sizeof(bool));
    } else {
        create_from_host(to.memory, to.where, shape, values.data(), sizeof(T));
    }
}

// ---- numbers to text -----------------------------------------------------------------------------------------------

/// A printf format for one number.
class number_format {
public:
    explicit number_format(const std::string& format) {
        const std::size_t percent = format.find('%');
        const std::size_t letter =
            percent == std::string::npos ? percent : format.find_first_not_of("0123456789.+-# ", percent + 1);
        if (letter == std::string::npos || format.find('%', letter) != std::string::npos) fail(format);
        kind_ = format[letter];
        if (std::string_view("eEfFgGaAdiuxXo").find(kind_) == std::string_view::npos) fail(format);
        is_integer_ = std::string_view("diuxXo").find(kind_) != std::string_view::npos;
        format_ = format.substr(0, letter) + (is_integer_ ? "ll" : "") + format.substr(letter);
    }

    template <class T>
    void append(std::string& to, T value) const {
        if constexpr (complex_number<T>) {
            std::string parts[2];
            append(parts[0], value.real());
            append(parts[1], value.imag());
            to += " (" + parts[0] + (parts[1].starts_with('-') ? "" : "+") + parts[1] + "j)";
        } else if constexpr (half_float<T>) {
            append(to, static_cast<double>(value));
        } else {
            char text[512];
            const int length = is_integer_
                                   ? std::snprintf(text, sizeof text, format_.c_str(), static_cast<long long>(value))
                                   : std::snprintf(text, sizeof text, format_.c_str(), static_cast<double>(value));
            to.append(text, static_cast<std::size_t>(std::clamp(length, 0, static_cast<int>(sizeof text) - 1)));
        }
    }

private:
    [[noreturn]] static void fail(const std::string& format) {
        throw dtype_error("[savetxt] '" + format + "' is no format of one number, as %.18e or %d is");
    }
    std::string format_;
    char kind_ = 0;
    bool is_integer_ = false;
};

/// Calls f with the elements on the host, as a span of T.
template <class F>
void with_elements(dtype type, const buffer_ref& memory, const layout& where, const F& f) {
    with_element_type(type, [&]<class T>(std::type_identity<T>) {
        const value_room<T> values(static_cast<std::size_t>(where.size()));
        if (where.size() != 0) read_values(memory, where, sizeof(T), values.get());
        f(std::span<const T>(values.get(), static_cast<std::size_t>(where.size())));
    });
}

std::string in_comments(const std::string& text, const savetxt_options& options) {
    if (text.empty()) return {};
    std::string lines = options.comments;
    for (const char c : text) {
        lines += c;
        if (c == '\n') lines += options.comments;
    }
    return lines + options.newline;
}

}  // namespace

void load_text(const std::string& path, const loadtxt_options& options, destination to) {
    table_reader table(path, options);
    with_element_type(to.type, [&]<class T>(std::type_identity<T>) {
        std::vector<T> values;
        index_t rows = 0, columns = 0;
        table.read(values, rows, columns);
        if (options.unpack) {
            std::vector<T> turned(values.size());
            for (std::size_t i = 0; i < values.size(); ++i) {
                const auto r = static_cast<index_t>(i) / columns, c = static_cast<index_t>(i) % columns;
                turned[static_cast<std::size_t>(c * rows + r)] = values[i];
            }
            values = std::move(turned);
        }
        put(to, values, shape_of_table(rows, columns, options));
    });
}

void save_text(const std::string& path, const savetxt_options& options, dtype type, const buffer_ref& memory,
               const layout& where) {
    if (where.rank() < 1 || where.rank() > 2)
        throw shape_error("[savetxt] shape " + to_text(where.extents()) + "; one axis or two are wanted");
    const number_format format(options.fmt);
    const auto columns = static_cast<std::size_t>(where.rank() == 2 ? where.shape()[1] : 1);
    std::string text = in_comments(options.header, options);
    with_elements(type, memory, where, [&](const auto& values) {
        std::size_t column = 0;
        for (const auto value : values) {
            if (column != 0) text += options.delimiter;
            format.append(text, value);
            if (++column == columns) {
                text += options.newline;
                column = 0;
            }
        }
    });
    text += in_comments(options.footer, options);
    write_file("savetxt", path, std::as_bytes(std::span(text)));
}

void read_elements(const std::string& path, const fromfile_options& options, destination to) {
    const auto file = runtime::open_file("fromfile", path);
    const auto fail = [&](const std::string& what) { throw_file_error(file->subject(), what); };
    const auto check_count = [&](index_t there) {
        if (options.count > there)
            fail(std::to_string(options.count) + " elements are wanted, and there are " + std::to_string(there));
    };
    if (options.offset < 0 || static_cast<std::uint64_t>(options.offset) > file->size())
        fail("has " + std::to_string(file->size()) + " bytes, and " + std::to_string(options.offset) +
             " are to be left out");
    with_element_type(to.type, [&]<class T>(std::type_identity<T>) {
        if (!options.sep.empty()) {
            const std::string text = whole_text(*file);
            std::string_view rest = trimmed(std::string_view(text).substr(static_cast<std::size_t>(options.offset)));
            const std::string_view between = trimmed(options.sep);
            std::vector<T> values;
            while (!rest.empty() && (options.count < 0 || static_cast<index_t>(values.size()) < options.count)) {
                T value{};
                if (!take_element(rest, value))
                    fail("element " + std::to_string(values.size()) + " is no " + std::string(name(to.type)));
                values.push_back(value);
                rest = trimmed(rest);
                if (!between.empty() && rest.starts_with(between)) rest = trimmed(rest.substr(between.size()));
            }
            const auto n = static_cast<index_t>(values.size());
            check_count(n);
            return put(to, values, {&n, 1});
        }
        const std::uint64_t bytes = file->size() - static_cast<std::uint64_t>(options.offset);
        const auto there = static_cast<index_t>(bytes / sizeof(T));
        check_count(there);
        if (options.count < 0 && bytes % sizeof(T) != 0)
            fail("has " + std::to_string(bytes) + " bytes, which are no whole number of " + std::string(name(to.type)));
        const index_t n = options.count < 0 ? there : options.count;
        const value_room<T> values(static_cast<std::size_t>(n));
        file->read(static_cast<std::uint64_t>(options.offset),
                   std::as_writable_bytes(std::span(values.get(), static_cast<std::size_t>(n))));
        create_from_host(to.memory, to.where, {&n, 1}, values.get(), sizeof(T));
    });
}

void write_elements(const std::string& path, const std::string& sep, dtype type, const buffer_ref& memory,
                    const layout& where) {
    with_elements(type, memory, where, [&](const auto& values) {
        if (sep.empty()) return write_file("tofile", path, std::as_bytes(values));
        std::string text;
        for (const auto& value : values) text += (text.empty() ? "" : sep) + text_of_element(&value, type);
        write_file("tofile", path, std::as_bytes(std::span(text)));
    });
}

}  // namespace ingot::detail
