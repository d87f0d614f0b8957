// See npy_header.hpp. The dict is the one that NumPy writes with repr():
//   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
// Keys may be in any order, strings in either quotes, spaces anywhere, and integers may have Python 2's L. No other
// Python is understood.
#include "runtime/files/npy_header.hpp"

#include <array>
#include <ingot/core/error.hpp>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace ingot::runtime {

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t longest_header = std::size_t{1} << 20;  // a header of 64 axes takes 2 KiB
constexpr std::size_t alignment = 64;                         // of the elements in the file
constexpr std::size_t digits_to_grow = 21;  // NumPy leaves room for the first extent to grow to this many digits

/// "f4", as NumPy writes it behind the byte order; empty for a dtype that NumPy does not have.
std::string short_name(dtype t) {
    if (t == dtype::bf) return "";
    const auto& facts = detail::facts(t);
    const char letter = facts.kind == detail::kind::boolean    ? 'b'
                        : facts.kind == detail::kind::floating ? 'f'
                        : facts.kind == detail::kind::complex  ? 'c'
                        : facts.is_signed                      ? 'i'
                                                               : 'u';
    return letter + std::to_string(facts.size);
}

/// Text from a file for an error message: quoted, shortened, without control characters.
std::string in_quotes(std::string_view text) {
    std::string shown;
    for (const char c : text.substr(0, 40)) shown += c >= ' ' && c <= '~' ? c : '?';
    return "'" + shown + (text.size() > 40 ? "...'" : "'");
}

// ---- the dict ------------------------------------------------------------------------------------------------------

class dict_parser {
public:
    dict_parser(std::string_view text, const std::string& subject) : text_(text), subject_(subject) {}

    npy_contents parse() {
        bool has_descr = false, has_order = false, has_shape = false;
        expect('{');
        while (!accept('}')) {
            const std::string_view key = string();
            const auto first = [&](bool& seen) {
                if (seen) throw_file_error(subject_, "its header has the key " + in_quotes(key) + " twice");
                seen = true;
                expect(':');
            };
            if (key == "descr") {
                first(has_descr);
                descr();
            } else if (key == "fortran_order") {
                first(has_order);
                result_.fortran_order = boolean();
            } else if (key == "shape") {
                first(has_shape);
                shape();
            } else {
                throw_file_error(subject_, "its header has the key " + in_quotes(key) +
                                               ", and wants 'descr', 'fortran_order' and 'shape'");
            }
            if (!accept(',')) {
                expect('}');
                break;
            }
        }
        skip_space();
        if (at_ < text_.size()) malformed("the end");
        if (!has_descr || !has_order || !has_shape)
            throw_file_error(subject_, std::string("its header has no key ") + (!has_descr   ? "'descr'"
                                                                                : !has_order ? "'fortran_order'"
                                                                                             : "'shape'"));
        return result_;
    }

private:
    [[noreturn]] void malformed(const std::string& wanted) const {
        throw_file_error(subject_, "its header has " +
                                       (at_ < text_.size() ? in_quotes(text_.substr(at_, 1)) : std::string("its end")) +
                                       " at character " + std::to_string(at_) + ", where " + wanted +
                                       " is wanted: " + in_quotes(text_));
    }
    void skip_space() {
        while (at_ < text_.size() && std::string_view(" \t\r\n\f").find(text_[at_]) != std::string_view::npos) ++at_;
    }
    bool accept(char c) {
        skip_space();
        const bool there = at_ < text_.size() && text_[at_] == c;
        at_ += there;
        return there;
    }
    void expect(char c) {
        if (!accept(c)) malformed(in_quotes({&c, 1}));
    }
    bool accept_word(std::string_view word) {
        skip_space();
        const bool there = text_.substr(at_).starts_with(word);
        if (there) at_ += word.size();
        return there;
    }

    std::string_view string() {
        const bool twice = accept('"');
        if (!twice && !accept('\'')) malformed("a string");
        const std::size_t begin = at_;
        for (; at_ < text_.size() && text_[at_] != (twice ? '"' : '\''); ++at_)
            if (text_[at_] == '\\' || text_[at_] == '\n') malformed("a string without escapes");
        if (at_ == text_.size()) malformed("the end of a string");
        return text_.substr(begin, at_++ - begin);
    }
    bool boolean() {
        if (accept_word("True")) return true;
        if (!accept_word("False")) malformed("True or False");
        return false;
    }
    static bool is_digit(char c) { return c >= '0' && c <= '9'; }
    index_t integer() {
        skip_space();
        const std::size_t begin = at_;
        index_t value = 0;
        for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
            const int digit = text_[at_] - '0';
            if (value > (std::numeric_limits<index_t>::max() - digit) / 10)
                throw_file_error(subject_, "an extent in its header is too large: " + in_quotes(text_.substr(begin)));
            value = 10 * value + digit;
        }
        if (at_ == begin || (text_[begin] == '0' && at_ - begin > 1)) {
            at_ = begin;
            malformed("an integer of at least 0");
        }
        if (at_ < text_.size() && text_[at_] == 'L') ++at_;
        return value;
    }
    void shape() {
        expect('(');
        std::vector<index_t> extents;
        bool comma = false;
        while (!accept(')')) {
            if (!extents.empty() && !comma) malformed("','");
            if (extents.size() == detail::max_rank)
                throw_file_error(subject_, "its shape has more axes than the " + std::to_string(detail::max_rank) +
                                               " that an array can have");
            extents.push_back(integer());
            comma = accept(',');
        }
        if (extents.size() == 1 && !comma) malformed("',' before it");
        result_.shape = shape_like(extents);
    }
    /// A list or a tuple describes records, which are not supported, so the rest is not parsed.
    void descr() {
        skip_space();
        if (at_ < text_.size() && (text_[at_] == '[' || text_[at_] == '('))
            throw dtype_error(subject_ + ": holds records, and numbers are wanted");
        const std::string_view name = string();
        const auto order = std::string_view("<>=|").find(name.empty() ? ' ' : name[0]);
        for (std::size_t i = 0; order != std::string_view::npos && i < detail::dtype_count; ++i) {
            const dtype t = static_cast<dtype>(i);
            if (name.substr(1) != short_name(t) || name.size() == 1) continue;
            if (detail::size_of(t) > 1 && name[0] == '|') break;
            result_.type = t;
            result_.swapped = name[0] == '>';
            return;
        }
        throw dtype_error(subject_ + ": holds elements of the dtype " + in_quotes(name) + ", which Ingot has not");
    }

    std::string_view text_;
    const std::string& subject_;
    std::size_t at_ = 0;
    npy_contents result_;
};

// ---- the file ------------------------------------------------------------------------------------------------------

std::string read_text(byte_stream& from, std::size_t length) {
    std::string text(length, ' ');
    from.read(std::as_writable_bytes(std::span(text)));
    return text;
}

/// Bytes of all elements; empty where index_t cannot count them.
std::optional<std::uint64_t> bytes_of(const npy_contents& file) {
    bool nothing = false;
    std::uint64_t bytes = detail::size_of(file.type);
    constexpr std::uint64_t most = std::numeric_limits<index_t>::max();
    for (const index_t extent : file.shape) {
        const auto n = static_cast<std::uint64_t>(extent);
        nothing = nothing || n == 0;
        if (n != 0 && bytes > most / n) return std::nullopt;
        if (n != 0) bytes *= n;
    }
    return nothing ? 0 : bytes;
}

}  // namespace

npy_contents read_npy_header(byte_stream& from) {
    const std::string& subject = from.subject();
    if (from.remaining() < magic.size() + 4)
        throw_file_error(subject, "has " + std::to_string(from.remaining()) + " bytes, too few for a .npy file");
    const std::string beginning = read_text(from, magic.size() + 2);
    if (beginning.starts_with("PK"))
        throw_file_error(subject, "is a zip archive, which load_npz reads, and a .npy file is wanted");
    if (!beginning.starts_with(magic))
        throw_file_error(subject, "begins with " + in_quotes(beginning.substr(0, magic.size())) +
                                      ", and a .npy file with byte 147 and 'NUMPY'");
    const int major = static_cast<unsigned char>(beginning[magic.size()]);
    const int minor = static_cast<unsigned char>(beginning[magic.size() + 1]);
    if (major < 1 || major > 3 || minor != 0)
        throw_file_error(subject, "is of the format's version " + std::to_string(major) + "." + std::to_string(minor) +
                                      ", and 1.0, 2.0 or 3.0 is wanted");

    std::array<std::byte, 4> length_bytes{};
    from.read(std::span(length_bytes).first(major == 1 ? 2 : 4));
    const std::size_t length = little_endian<std::uint32_t>(length_bytes);
    if (length > longest_header)
        throw_file_error(subject, "has a header of " + std::to_string(length) + " bytes, and at most " +
                                      std::to_string(longest_header) + " are wanted");
    if (length > from.remaining())
        throw_file_error(subject, "has " + std::to_string(from.remaining()) + " of its header's " +
                                      std::to_string(length) + " bytes: it is cut short");
    const std::string text = read_text(from, length);
    npy_contents file = dict_parser(text, subject).parse();

    const std::optional<std::uint64_t> bytes = bytes_of(file);
    const auto contents = [&] {
        return "shape " + detail::to_text(file.shape.values()) + " of " + std::string(name(file.type));
    };
    if (!bytes) throw_file_error(subject, contents() + " has too many elements");
    if (*bytes != from.remaining())
        throw_file_error(subject, std::string(*bytes < from.remaining() ? "too long" : "cut short") + ": has " +
                                      std::to_string(from.remaining()) + " bytes behind the header, where " +
                                      contents() + " wants " + std::to_string(*bytes));
    file.bytes = *bytes;
    return file;
}

std::string npy_header_of(const std::string& subject, dtype type, std::span<const index_t> shape) {
    const std::string kind = short_name(type);
    if (kind.empty())
        throw dtype_error(subject + ": NumPy has no dtype for " + std::string(name(type)) +
                          "; astype<float> makes one that it has");
    std::string dict = std::string("{'descr': '") + (detail::size_of(type) == 1 ? '|' : '<') + kind +
                       "', 'fortran_order': False, 'shape': " + detail::to_text(shape) + ", }";
    if (!shape.empty()) dict.append(digits_to_grow - std::to_string(shape[0]).size(), ' ');

    std::string header(magic);
    header += {'\1', '\0'};
    constexpr std::size_t length_bytes = 2;
    const std::size_t unpadded = header.size() + length_bytes + dict.size() + 1;
    dict.append(alignment - unpadded % alignment, ' ');
    dict += '\n';
    header += static_cast<char>(dict.size() & 0xff);
    header += static_cast<char>(dict.size() >> 8);
    return header + dict;
}

}  // namespace ingot::runtime
