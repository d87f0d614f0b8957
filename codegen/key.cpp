// Keys between their two forms, words and vectors. Words may come from another process, so nothing in them is trusted:
// every length and enumerator is checked before it is used.
#include "codegen/key.hpp"

#include <algorithm>
#include <cstring>

#include <ingot/error.hpp>

namespace ingot::codegen {

namespace {

using namespace detail;

class word_reader {
public:
    explicit word_reader(std::span<const std::uint32_t> words) : words_(words) {}
    std::uint32_t next() {
        if (words_.empty()) throw error("[key] ends too early");
        const std::uint32_t w = words_.front();
        words_ = words_.subspan(1);
        return w;
    }
    std::size_t left() const { return words_.size(); }

private:
    std::span<const std::uint32_t> words_;
};

void require(bool holds, const char* what) {
    if (!holds) throw error(std::string("[key] ") + what);
}

key_header read_header(word_reader& in) {
    key_header h;
    const std::uint32_t modes = in.next();
    require((modes & 0xffu) == key_version, "is of another version");
    require((modes >> 8 & 15u) <= 1 && (modes >> 12 & 15u) <= 3, "has no such target or math mode");
    h.where = static_cast<target>(modes >> 8 & 15u);
    h.math = static_cast<math_mode>(modes >> 12 & 15u);
    h.wide_index = (modes >> 16 & 1u) != 0;
    const std::uint32_t place = in.next();
    h.architecture = place & 0xffffu;
    h.outputs = place >> 16;
    h.program = in.next();
    h.operands = in.next();
    h.axes = in.next();
    require(h.axes <= 64, "has more than 64 axes");
    require(h.program <= in.left() && h.operands <= in.left(), "ends too early");
    return h;
}

operand_class read_operand(word_reader& in, std::uint32_t axes) {
    operand_class o;
    const std::uint32_t head = in.next();
    require((head & 15u) <= static_cast<std::uint32_t>(operand_kind::text) && (head >> 4 & 15u) < dtype_count &&
                (head >> 12 & 15u) <= static_cast<std::uint32_t>(exponent_class::minus_one),
            "has no such operand");
    o.head = operand_head::decode(head);
    o.strides.resize(axes);
    std::uint32_t classes = 0;
    for (std::uint32_t a = 0; a < axes; ++a) {
        if (a % stride_classes_per_word == 0) classes = in.next();
        require((classes & 3u) <= 2, "has no such stride class");
        o.strides[a] = static_cast<stride_class>(classes & 3u);
        classes >>= 2;
    }
    return o;
}

bool has_text(const key& k, std::size_t i) {
    return k.operands[i].head.kind == operand_kind::text && k.operands[i].head.same_as == i;
}

std::string read_text(word_reader& in) {
    const std::uint32_t length = in.next();
    require((length + std::size_t{3}) / 4 <= in.left(), "ends too early");
    std::string text(length, '\0');
    for (std::size_t at = 0; at < length; at += 4) {
        const std::uint32_t w = in.next();
        std::memcpy(text.data() + at, &w, std::min<std::size_t>(4, length - at));
    }
    return text;
}

void write_text(const std::string& text, std::vector<std::uint32_t>& out) {
    const std::size_t at = out.size();
    out.resize(at + 1 + (text.size() + 3) / 4);
    out[at] = static_cast<std::uint32_t>(text.size());
    std::memcpy(out.data() + at + 1, text.data(), text.size());
}

void write_operand(const operand_class& o, std::vector<std::uint32_t>& out) {
    out.push_back(o.head.encode());
    for (std::size_t a = 0; a < o.strides.size(); ++a) {
        if (a % stride_classes_per_word == 0) out.push_back(0);
        out.back() |= static_cast<std::uint32_t>(o.strides[a]) << 2 * (a % stride_classes_per_word);
    }
}

void describe_operand(const operand_class& o, std::string& out) {
    if (o.head.kind == operand_kind::text) {
        out += "text " + o.text.substr(0, o.text.find('\0'));
        return;
    }
    if (o.head.kind == operand_kind::generator) out += "random ";
    if (o.head.kind == operand_kind::pick) {
        out += "place";
    } else {
        out += name(o.head.type);
    }
    if (o.head.kind == operand_kind::scalar) {
        out += " scalar";
        return;
    }
    out += '[';
    for (const stride_class s : o.strides) out += "01s"[static_cast<std::size_t>(s)];
    out += ']';
    if (o.head.vector) out += " vector";
    if (o.head.dense) out += " dense";
    if (o.head.wide) out += " wide";
    if (o.head.aliased) out += " in place";
}

}  // namespace

key decode(std::span<const std::uint32_t> words) {
    word_reader in(words);
    key k;
    k.header = read_header(in);
    for (std::uint32_t i = 0; i < k.header.program; ++i) {
        const word w = in.next();
        require((w & 15u) <= static_cast<std::uint32_t>(word_kind::user) && (w >> 4 & 15u) < dtype_count,
                "has no such program word");
        require(kind_of_word(w) != word_kind::map || code_of_word(w) < op_count, "has no such operator");
        const bool folds = kind_of_word(w) == word_kind::reduce || kind_of_word(w) == word_kind::scan;
        require(!folds || code_of_word(w) <= static_cast<std::uint32_t>(fold::user), "has no such fold");
        require(kind_of_word(w) != word_kind::user || arity_of_word(w) <= most_arguments, "takes too many values");
        for (std::uint32_t types = kind_of_word(w) == word_kind::text ? code_of_word(w) : 0; types != 0; types >>= 4)
            require((types & 15u) < dtype_count, "has a text of no such dtype");
        k.program.push_back(w);
    }
    for (std::uint32_t a = 0; a < k.header.axes; ++a) {
        k.axes.push_back(axis_class::decode(in.next()));
        require(k.axes.back().partner <= a, "pairs an axis with a later one");
        const std::uint8_t most = k.axes.back().owner == 0 ? bucket::flags : bucket::looped;
        require(k.axes.back().bucket <= most, "has no such length class");
        const axis_class& axis = k.axes.back();
        require(axis.fine <= (axis.owner == 0 ? 31 : axis.bucket == 1 ? 6 : 2), "has no such fine length class");
        require(k.axes.back().owner != 0 || a == 0 || k.axes[a - 1].owner == 0,
                "does not begin with the outputs' axes");
    }
    for (std::uint32_t i = 0; i < k.header.operands; ++i) {
        k.operands.push_back(read_operand(in, k.header.axes));
        require(k.operands.back().head.same_as <= i, "has an operand that is the same as a later one");
    }
    for (std::uint32_t i = 0; i < k.header.outputs; ++i) {
        k.outputs.push_back(read_operand(in, k.header.axes));
        for (std::uint32_t a = 0; a < k.header.axes; ++a)
            require(k.axes[a].owner == 0 || k.outputs.back().strides[a] == stride_class::broadcast,
                    "has an output that moves along a bound axis");
    }
    for (std::size_t i = 0; i < k.operands.size(); ++i)
        if (has_text(k, i)) k.operands[i].text = read_text(in);
    require(in.left() == 0, "has words after its end");
    return k;
}

std::vector<std::uint32_t> encode(const key& k) {
    key_header h = k.header;
    h.outputs = static_cast<std::uint32_t>(k.outputs.size());
    h.program = static_cast<std::uint32_t>(k.program.size());
    h.operands = static_cast<std::uint32_t>(k.operands.size());
    h.axes = static_cast<std::uint32_t>(k.axes.size());
    std::vector<std::uint32_t> words(key_header_words);
    write_header(h, words.data());
    words.insert(words.end(), k.program.begin(), k.program.end());
    for (const axis_class& a : k.axes) words.push_back(a.encode());
    for (const operand_class& o : k.operands) write_operand(o, words);
    for (const operand_class& o : k.outputs) write_operand(o, words);
    for (std::size_t i = 0; i < k.operands.size(); ++i)
        if (has_text(k, i)) write_text(k.operands[i].text, words);
    return words;
}

std::string describe(const key& k) {
    std::string out = k.header.where == target::host ? "host" : "sm_" + std::to_string(k.header.architecture);
    constexpr const char* modes[] = {"", " strict", " fast", " tf32"};
    out += modes[static_cast<std::size_t>(k.header.math)];
    out += k.header.wide_index ? " 64-bit" : " 32-bit";
    out += " axes[";
    for (const axis_class& a : k.axes) {
        if (&a != k.axes.data()) out += ' ';
        out += a.owner == 0 ? std::string("out") : "b" + std::to_string(a.owner - 1);
        if (a.partner != 0) out += "~" + std::to_string(a.partner - 1);
        if (a.bucket != 0) out += ":" + std::to_string(a.bucket);
        if (a.fine != 0) out += "/" + std::to_string(a.fine);
    }
    out += ']';
    for (const operand_class& o : k.operands) {
        const auto number = &o - k.operands.data();
        out += number == 0 ? " (" : ", ";
        if (o.head.same_as != number)
            out += "=" + std::to_string(o.head.same_as);
        else
            describe_operand(o, out);
    }
    out += k.operands.empty() ? " () -> (" : ") -> (";
    for (const operand_class& o : k.outputs) {
        if (&o != k.outputs.data()) out += ", ";
        describe_operand(o, out);
    }
    return out + ')';
}

}  // namespace ingot::codegen
