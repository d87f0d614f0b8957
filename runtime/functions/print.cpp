// Printing as NumPy 2 does, with the thread's options. Only the shown elements are copied to the host.
#include <ingot/core/print.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include <ingot/core/array.hpp>

#include "runtime/device/copy_view.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/transfer.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/functions/print.hpp"

namespace ingot::detail {

namespace {

thread_local constinit print_settings options;

// ---- the shown elements ------------------------------------------------------------------------------------------

/// The shown elements of an array, in C order; a summarised axis keeps only its first and last items.
struct shown_elements {
    std::vector<index_t> shape;  // of the shown elements
    std::vector<bool> cut;       // axes whose middle items are left out
    std::vector<unsigned char> bytes;
    bool is_printed = true;  // false on other ranks than the first
};

class element_reader {
public:
    element_reader(const buffer_ref& memory, const layout& where, std::size_t each)
        : memory_(memory), where_(where), each_(each) {}

    shown_elements read() {
        const bool summary = where_.size() > options.threshold;
        for (index_t extent : where_.extents()) {
            const bool cut = summary && extent > 2 * options.edgeitems;
            result_.cut.push_back(cut);
            result_.shape.push_back(cut ? 2 * options.edgeitems : extent);
        }
        if (where_.size() > 0 && memory_->device.kind() == device_kind::distributed) {
            std::vector<index_t> edge;
            for (const bool cut : result_.cut) edge.push_back(cut ? options.edgeitems : 0);
            result_.is_printed = runtime::for_distributed.load()->read_shown(*memory_, edge, result_.bytes);
        } else if (where_.size() > 0) {
            read_axis(0, where_.offset);
        }
        return std::move(result_);
    }

private:
    void read_axis(int axis, index_t at) {
        if (axis == where_.rank()) return copy(at, 1);
        const index_t extent = where_.shape()[axis], stride = where_.strides()[axis];
        const bool inner = axis + 1 == where_.rank() && stride == 1;
        const bool cut = result_.cut[static_cast<std::size_t>(axis)];
        const auto range = [&](index_t begin, index_t end) {
            if (inner) return copy(at + begin, end - begin);
            for (index_t i = begin; i < end; ++i) read_axis(axis + 1, at + i * stride);
        };
        range(0, cut ? options.edgeitems : extent);
        if (cut) range(extent - options.edgeitems, extent);
    }
    void copy(index_t element, index_t count) {
        const std::size_t bytes = static_cast<std::size_t>(count) * each_, end = result_.bytes.size();
        result_.bytes.resize(end + bytes);
        runtime::copy_to_host(*memory_, static_cast<std::size_t>(element) * each_, bytes, result_.bytes.data() + end,
                              *runtime::current().stream);
    }

    const buffer_ref& memory_;
    const layout& where_;
    std::size_t each_;
    shown_elements result_;
};

// ---- numbers -----------------------------------------------------------------------------------------------------

/// A finite number in decimal: sign and digits before the point, digits behind it, exponent ("+05" or empty).
struct decimal {
    std::string whole, fraction, exponent;
};

/// The value as a number of the C++ library.
template <std::floating_point T>
T exact(T x) {
    return x;
}
template <half_float T>
double exact(T x) {
    return static_cast<double>(x);
}

/// A number with the same shortest digits as x: among the decimals that round to x, the one with the fewest digits.
template <std::floating_point T>
T shortest(T x) {
    return x;
}
template <half_float T>
double shortest(T x) {
    const double value = exact(x);
    char digits[32];
    for (int more = 0; std::isfinite(value) && more < 6; ++more) {
        const auto end = std::to_chars(digits, digits + sizeof(digits), value, std::chars_format::scientific, more).ptr;
        double read = 0;
        std::from_chars(digits, end, read);
        if (T(read) == x) return read;
    }
    return value;
}

/// |value| = d.ddd... x 10^exponent, with `digits` digits behind the point, by default the fewest that read back as the
/// value.
template <class T>
decimal to_scientific(T value, int digits = -1) {
    char text[128];
    const auto magnitude = std::fabs(digits < 0 ? shortest(value) : exact(value));
    constexpr auto format = std::chars_format::scientific;
    const char* const end = digits < 0 ? std::to_chars(text, std::end(text), magnitude, format).ptr
                                       : std::to_chars(text, std::end(text), magnitude, format, digits).ptr;
    const char* const begin = text;
    const char* const e = std::find(begin, end, 'e');
    return {std::string(1, *begin), e - begin > 2 ? std::string(begin + 2, e) : "", std::string(e + 1, end)};
}

/// |value| with `digits` digits behind the point.
template <class T>
decimal to_fixed(T value, int digits) {
    char text[512];
    const char* const begin = text;
    const char* const end =
        std::to_chars(text, std::end(text), std::fabs(exact(value)), std::chars_format::fixed, digits).ptr;
    const char* const point = std::find(begin, end, '.');
    return {std::string(begin, point), point < end ? std::string(point + 1, end) : "", ""};
}

/// Returns the number written without an exponent.
decimal shifted(const decimal& d) {
    const int exponent = std::stoi(d.exponent);
    std::string digits = d.whole + d.fraction;
    if (exponent < 0) return {"0", std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits, ""};
    const std::size_t whole = static_cast<std::size_t>(exponent) + 1;
    if (digits.size() < whole) digits.resize(whole, '0');
    return {digits.substr(0, whole), digits.substr(whole), ""};
}

void trim_zeros(std::string& fraction) { fraction.erase(fraction.find_last_not_of('0') + 1); }

template <class T>
decimal signed_as(T value, decimal d) {
    if (std::signbit(exact(value))) d.whole.insert(0, 1, '-');
    return d;
}

/// The shortest digits; or, if more than `limit` of them are behind the point, `limit`, correctly rounded.
template <class T>
decimal scientific(T value, std::size_t limit) {
    decimal d = to_scientific(value);
    if (d.fraction.size() > limit) d = to_scientific(value, static_cast<int>(limit));
    trim_zeros(d.fraction);
    return signed_as(value, std::move(d));
}
template <class T>
decimal positional(T value, std::size_t limit) {
    decimal d = shifted(to_scientific(value));
    if (d.fraction.size() > limit) d = to_fixed(value, static_cast<int>(limit));
    trim_zeros(d.fraction);
    return signed_as(value, std::move(d));
}

template <class T>
bool is_finite(T value) {
    return std::isfinite(exact(value));
}
template <class T>
std::string not_finite(T value) {
    return std::isnan(exact(value)) ? "nan" : exact(value) < 0 ? "-inf" : "inf";
}

std::string padded_left(const std::string& text, std::size_t width) {
    return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

/// A float outside an array: all its digits, and an exponent below 1e-4 and from 1e16.
template <class T>
std::string alone(T value) {
    if (!is_finite(value)) return not_finite(value);
    const double magnitude = std::fabs(static_cast<double>(exact(value)));
    const bool plain = magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e16);
    const decimal d = plain ? positional(value, 400) : scientific(value, 400);
    if (plain) return d.whole + "." + (d.fraction.empty() ? "0" : d.fraction);
    return d.whole + (d.fraction.empty() ? "" : "." + d.fraction) + "e" + d.exponent;
}
std::string alone(bool value) { return value ? "True" : "False"; }
template <std::integral T>
std::string alone(T value) {
    return std::to_string(value);
}

// ---- the elements of an array, aligned -----------------------------------------------------------------------------

template <class T>
std::vector<std::string> aligned(const std::vector<T>& values) {
    using number = decltype(exact(T()));
    number largest = 0, smallest = std::numeric_limits<number>::infinity();
    for (T v : values)
        if (is_finite(v) && exact(v) != 0) {
            largest = std::max(largest, std::fabs(exact(v)));
            smallest = std::min(smallest, std::fabs(exact(v)));
        }
    const bool exponents =
        largest > 0 && (largest >= number(1e8) || (!options.suppress && (smallest < exact(T(0.0001)) ||
                                                                         exact(T(largest / smallest)) > number(1000))));
    const auto precision = static_cast<std::size_t>(options.precision);
    std::size_t whole = 0, fraction = 0, exponent = 0, longest_name = 0;
    std::vector<decimal> decimals;
    for (T v : values) {
        decimal d;
        if (is_finite(v)) d = exponents ? scientific(v, precision) : positional(v, precision);
        decimals.push_back(std::move(d));
        whole = std::max(whole, decimals.back().whole.size());
        fraction = std::max(fraction, decimals.back().fraction.size());
        exponent = std::max(exponent, decimals.back().exponent.size());
        if (!is_finite(v)) longest_name = std::max(longest_name, not_finite(v).size());
    }
    std::size_t behind = 1 + fraction + (exponents ? 1 + exponent : 0);  // width from the point on
    whole = std::max(whole, longest_name > behind ? longest_name - behind : 0);
    std::vector<std::string> words;
    for (std::size_t i = 0; i < values.size(); ++i) {
        decimal& d = decimals[i];
        if (!is_finite(values[i])) {
            words.push_back(padded_left(not_finite(values[i]), whole + behind));
            continue;
        }
        // Like NumPy, formats the number again: a short one is extended by its exact digits up to the end of the
        // column, or to the point. Only float32 shows the difference.
        if (exponents) {
            d = signed_as(values[i], to_scientific(values[i], static_cast<int>(fraction)));
            d.exponent.insert(1, exponent - d.exponent.size(), '0');
        }
        if (!exponents && d.fraction.empty()) d = signed_as(values[i], to_fixed(values[i], 0));
        d.fraction.resize(fraction, ' ');
        words.push_back(padded_left(d.whole, whole) + "." + d.fraction + (exponents ? "e" + d.exponent : ""));
    }
    return words;
}

template <std::integral T>
std::vector<std::string> aligned(const std::vector<T>& values) {
    std::vector<std::string> words;
    std::size_t width = 0;
    for (T v : values) {
        words.push_back(alone(v));
        width = std::max(width, words.back().size());
    }
    if (std::same_as<T, bool>) width = 5;
    for (std::string& word : words) word = padded_left(word, width);
    return words;
}

template <class T>
std::vector<T> elements_of(const shown_elements& shown) {
    std::vector<T> values(shown.bytes.size() / sizeof(T));
    for (std::size_t i = 0; i < values.size(); ++i) {
        T value;
        std::memcpy(&value, shown.bytes.data() + i * sizeof(T), sizeof(T));
        values[i] = value;
    }
    return values;
}

template <class T>
std::vector<std::string> words_of(const shown_elements& shown) {
    const std::vector<T> values = elements_of<T>(shown);
    if (shown.shape.empty()) return {alone(T(values[0]))};
    return aligned(values);
}

/// The two parts are aligned separately; an imaginary part always has a sign, and a j behind its digits.
template <class T>
std::vector<std::string> words_of_complex(const shown_elements& shown) {
    std::vector<T> re, im;
    for (const T part : elements_of<T>(shown)) (re.size() == im.size() ? re : im).push_back(part);
    const auto with_sign = [](std::string word) { return word[0] == '-' ? word : '+' + word; };
    if (shown.shape.empty()) {
        const auto brief = [](T x) {
            const std::string word = alone(x);
            return word.ends_with(".0") ? word.substr(0, word.size() - 2) : word;
        };
        if (re[0] == 0 && !std::signbit(re[0])) return {brief(im[0]) + "j"};
        return {'(' + brief(re[0]) + with_sign(brief(im[0])) + "j)"};
    }
    std::vector<std::string> words = aligned(re), imaginary = aligned(im);
    std::size_t width = 0;
    for (std::string& word : imaginary) {
        word = with_sign(word.substr(word.find_first_not_of(' ')));
        width = std::max(width, word.size());
    }
    for (std::size_t i = 0; i < words.size(); ++i) {
        std::string word = padded_left(imaginary[i], width);
        word.insert(word.find_last_not_of(' ') + 1, "j");
        words[i] += word;
    }
    return words;
}

std::vector<std::string> words_of(const shown_elements& shown, dtype type) {
    switch (type) {
        case dtype::b1:
            return words_of<bool>(shown);
        case dtype::i1:
            return words_of<std::int8_t>(shown);
        case dtype::u1:
            return words_of<std::uint8_t>(shown);
        case dtype::i2:
            return words_of<std::int16_t>(shown);
        case dtype::u2:
            return words_of<std::uint16_t>(shown);
        case dtype::i4:
            return words_of<std::int32_t>(shown);
        case dtype::u4:
            return words_of<std::uint32_t>(shown);
        case dtype::i8:
            return words_of<std::int64_t>(shown);
        case dtype::u8:
            return words_of<std::uint64_t>(shown);
        case dtype::f2:
            return words_of<float16>(shown);
        case dtype::bf:
            return words_of<bfloat16>(shown);
        case dtype::f4:
            return words_of<float>(shown);
        case dtype::f8:
            return words_of<double>(shown);
        case dtype::c8:
            return words_of_complex<float>(shown);
        case dtype::c16:
            return words_of_complex<double>(shown);
        default:
            throw dtype_error("[print] no way to print " + std::string(name(type)));
    }
}

// ---- brackets and lines --------------------------------------------------------------------------------------------

class bracket_writer {
public:
    /// `comma` stands between elements, before the space.
    bracket_writer(const shown_elements& shown, const std::vector<std::string>& words, std::string comma = "")
        : shown_(shown), next_(words.begin()), comma_(std::move(comma)) {}

    /// Writes the axes from `axis` on; later lines start with `indent`.
    std::string write(std::size_t axis, const std::string& indent, index_t width) {
        if (axis == shown_.shape.size()) return *next_++;
        const bool innermost = axis + 1 == shown_.shape.size();
        const std::string separator = comma_ + std::string(innermost ? 0 : shown_.shape.size() - axis - 1, '\n');
        std::string text, line = indent;
        const auto add = [&](const std::string& word, bool last) {
            if (!innermost) {
                text += indent + word + (last ? "" : separator);
                return;
            }
            if (static_cast<index_t>(line.size() + word.size()) > width - 1 && line.size() > indent.size()) {
                line.erase(line.find_last_not_of(' ') + 1);
                text += line + "\n";
                line = indent;
            }
            line += word + (last ? "" : comma_ + " ");
        };
        const index_t extent = shown_.shape[axis];
        for (index_t i = 0; i < extent; ++i) {
            if (shown_.cut[axis] && i == options.edgeitems) add("...", false);
            add(write(axis + 1, indent + " ", width - 1), i + 1 == extent);
        }
        if (innermost) text += line;
        return "[" + text.substr(indent.size()) + "]";
    }

private:
    const shown_elements& shown_;
    std::vector<std::string>::const_iterator next_;
    std::string comma_;
};

}  // namespace

/// An array in parts as it is printed: a view of one is computed first. Returns false where that is not needed.
bool evaluated_view(buffer_ref& made, layout& to, const buffer_ref& memory, const layout& where, dtype type) {
    if (!memory || memory->device.kind() != device_kind::distributed) return false;
    if (is_whole(memory, where, size_of(type))) return false;
    runtime::copy_view(type, *memory, where, made, to);
    return true;
}

std::string text_of(const buffer_ref& memory, const layout& where, dtype type) {
    if (where.size() == 0) return "[]";
    buffer_ref made;
    layout of_made;
    if (evaluated_view(made, of_made, memory, where, type)) return text_of(made, of_made, type);
    const shown_elements shown = element_reader(memory, where, size_of(type)).read();
    if (!shown.is_printed) return "";
    const std::vector<std::string> words = words_of(shown, type);
    return bracket_writer(shown, words).write(0, " ", options.linewidth);
}

std::string text_of_element(const void* element, dtype type) {
    const auto* bytes = static_cast<const unsigned char*>(element);
    return words_of(shown_elements{{}, {}, {bytes, bytes + size_of(type)}}, type)[0];
}

std::string repr_of(const buffer_ref& memory, const layout& where, dtype type) {
    const std::string prefix = "array(";
    std::string text = "[]";
    if (where.size() != 0) {
        buffer_ref made;
        layout of_made;
        if (evaluated_view(made, of_made, memory, where, type)) return repr_of(made, of_made, type);
        shown_elements shown = element_reader(memory, where, size_of(type)).read();
        if (!shown.is_printed) return "";
        if (where.rank() == 0) shown.shape = {1};  // an element without axes is printed like one of a vector
        const std::vector<std::string> words = words_of(shown, type);
        const std::string indent(prefix.size() + 1, ' ');
        text = where.rank() == 0 ? words[0].substr(words[0].find_first_not_of(' '))
                                 : bracket_writer(shown, words, ",").write(0, indent, options.linewidth - 1);
    }
    std::vector<std::string> rest;
    if ((where.size() == 0 && where.rank() != 1) || where.size() > options.threshold)
        rest.push_back("shape=" + to_text(where.extents()));
    const bool is_implied = type == dtype::b1 || type == dtype::i8 || type == dtype::f8 || type == dtype::c16;
    if (!is_implied || where.size() == 0) rest.push_back("dtype=" + std::string(name(type)));
    std::string result = prefix + text;
    if (rest.empty()) return result + ")";
    const std::string behind = (rest.size() == 2 ? rest[0] + ", " + rest[1] : rest[0]) + ")";
    result += ",";
    const std::size_t last_line = result.size() - (result.rfind('\n') + 1);
    const bool fits = static_cast<index_t>(last_line + behind.size() + 1) <= options.linewidth;
    return result + (fits ? " " : "\n" + std::string(prefix.size(), ' ')) + behind;
}

void print(std::ostream& out, const buffer_ref& memory, const layout& where, dtype type) {
    out << text_of(memory, where, type);
}

void print(std::ostream& out, const integer_list& list) { out << to_text(list.values()); }

print_settings current_printing() noexcept { return options; }

}  // namespace ingot::detail

namespace ingot {

with_print_options::with_print_options(const print_options& given) : before_(detail::options) {
    const auto at_least = [](const char* option, index_t value, index_t least) {
        if (value < least)
            throw dtype_error("[print] " + std::string(option) + " " + std::to_string(value) + "; at least " +
                              std::to_string(least) + " is wanted");
    };
    at_least("precision", given.precision, 0);
    at_least("threshold", given.threshold, 0);
    at_least("edgeitems", given.edgeitems, 1);
    at_least("linewidth", given.linewidth, 1);
    detail::options = {given.precision, given.threshold, given.edgeitems, given.linewidth, given.suppress};
}

with_print_options::~with_print_options() { detail::options = before_; }

}  // namespace ingot
