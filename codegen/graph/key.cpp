// Converts keys between words and vectors. Words may come from another process, so nothing in them is trusted: every
// length and enumerator is checked before it is used.
#include "codegen/graph/key.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <ingot/core/error.hpp>

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
    h.past_caches = (modes >> 17 & 1u) != 0;
    const std::uint32_t target_word = in.next();
    h.architecture = target_word & 0xffffu;
    h.outputs = target_word >> 16;
    h.program = in.next();
    h.operands = in.next();
    h.axes = in.next();
    require(h.axes <= 64, "has more than 64 axes");
    require(h.program <= in.left() && h.operands <= in.left(), "ends too early");
    return h;
}

operand_class read_operand(word_reader& in, std::uint32_t axes) {
    operand_class o;
    const std::uint32_t low = in.next(), high = in.next();
    const std::uint64_t head = low | std::uint64_t{high} << 32;
    o.head = operand_head::decode(head);
    require(o.head.kind <= operand_kind::raw && static_cast<std::size_t>(o.head.type) < dtype_count &&
                o.head.exponent <= exponent_class::minus_one && o.head.index <= index_use::unchecked &&
                o.head.encode() == head,
            "has no such operand");
    require(o.head.few_places == 0 || (o.head.few_places >= 8 && o.head.few_places <= 14 && o.head.few_places % 2 == 0),
            "has no such number of places");
    require(o.head.index == index_use::none ||
                (o.head.kind == operand_kind::array && kind_of(o.head.type) == kind::integer),
            "has an index that is no array of integers");
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

void read_text(word_reader& in, std::uint32_t words, operand_class& o) {
    require(words >= 3, "ends too early");
    const std::uint32_t low = in.next(), high = in.next(), length = in.next();
    o.binding = low | std::uint64_t{high} << 32;
    for (int i = 0; i < 8; ++i) require((o.binding >> 8 * i & 0xffu) < dtype_count, "has a text of no such dtype");
    require((length + std::size_t{3}) / 4 == words - std::size_t{3}, "has a text of another length");
    o.text.assign(length, '\0');
    for (std::size_t at = 0; at < length; at += 4) {
        const std::uint32_t w = in.next();
        std::memcpy(o.text.data() + at, &w, std::min<std::size_t>(4, length - at));
    }
}

void write_text(const operand_class& o, std::vector<std::uint32_t>& out) {
    const std::size_t characters = (o.text.size() + 3) / 4;
    out.insert(out.end(), {section_head(key_section::text, 3 + characters), static_cast<std::uint32_t>(o.binding),
                           static_cast<std::uint32_t>(o.binding >> 32), static_cast<std::uint32_t>(o.text.size())});
    out.resize(out.size() + characters);
    std::memcpy(out.data() + out.size() - characters, o.text.data(), o.text.size());
}

std::vector<std::int8_t> read_steps(word_reader& in, std::size_t axes) {
    std::vector<std::int8_t> read;
    std::uint32_t steps = 0;
    for (std::size_t a = 0; a < axes; ++a, steps >>= 8) {
        if (a % steps_per_word == 0) steps = in.next();
        read.push_back(static_cast<std::int8_t>(steps & 0xffu));
    }
    return read;
}

void write_steps(const std::vector<std::int8_t>& steps, std::vector<std::uint32_t>& out) {
    for (std::size_t a = 0; a < steps.size(); ++a) {
        if (a % steps_per_word == 0) out.push_back(0);
        out.back() |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(steps[a])) << 8 * (a % steps_per_word);
    }
}

/// Whether a relation tells how the places of a pick are shifted.
bool is_shift(const view_relation& r) { return r.operand == r.base; }

void require_shift(const view_relation& r, const key& k) {
    require(k.operands[r.operand].head.kind == operand_kind::pick, "shifts what is no place");
    for (std::size_t a = 0; a < k.axes.size(); ++a) {
        const int n = r.steps[a];
        if (k.axes[a].owner == 0)
            require(std::abs(n) <= most_steps, "shifts operands far");
        else
            require(n >= 0 && (n == 0 || (static_cast<std::size_t>(n) <= k.axes.size() &&
                                          k.axes[static_cast<std::size_t>(n - 1)].owner == 0)),
                    "shifts operands along an axis that is not the outputs'");
    }
}

void require_relation(const view_relation& r, const key& k) {
    const operand_class &view = k.operands[r.operand], &base = k.operands[r.base];
    // Shifted views move along other axes of the key.
    const bool shifts = !k.relations.empty() && is_shift(k.relations.front());
    require(
        view.head.kind == operand_kind::array && base.head.kind == operand_kind::array &&
            view.head.type == base.head.type &&
            (shifts || (view.head.same_as == r.operand && base.head.same_as == r.base && view.strides == base.strides)),
        "relates operands that are not alike");
    for (std::size_t a = 0; a < k.axes.size(); ++a)
        require(r.steps[a] == 0 ||
                    (std::abs(r.steps[a]) <= most_steps && (shifts || view.strides[a] != stride_class::broadcast)),
                "relates operands that lie far apart");
}

view_relation read_relation(word_reader& in, const key& k) {
    const std::uint32_t pair = in.next();
    view_relation r{static_cast<std::uint16_t>(pair), static_cast<std::uint16_t>(pair >> 16), {}};
    require(r.base <= r.operand && r.operand < k.operands.size(), "relates operands that there are not");
    r.steps = read_steps(in, k.axes.size());
    is_shift(r) ? require_shift(r, k) : require_relation(r, k);
    return r;
}

void write_relations(const key& k, std::vector<std::uint32_t>& out) {
    out.push_back(section_head(key_section::relations,
                               k.relations.size() * relation_words(static_cast<std::uint32_t>(k.axes.size()))));
    for (const view_relation& r : k.relations) {
        out.push_back(r.operand | static_cast<std::uint32_t>(r.base) << 16);
        write_steps(r.steps, out);
    }
}

iteration read_iteration(word_reader& in, const key& k) {
    iteration i;
    const std::uint32_t pair = in.next();
    i.steps = pair & 0xffffu;
    i.base = static_cast<std::uint16_t>(pair >> 16);
    i.beyond = read_steps(in, k.axes.size());
    require(i.steps > 1 && i.steps <= most_iterated_steps, "repeats a statement so often");
    require(k.header.where == target::cuda && i.base < k.operands.size() && k.outputs.size() == 1, "steps no operand");
    const operand_class &from = k.operands[i.base], &to = k.outputs[0];
    require(from.head.kind == operand_kind::array && from.head.same_as == i.base && from.head.type == to.head.type &&
                from.strides == to.strides,
            "steps an operand that is unlike the result");
    return i;
}

void write_iteration(const iteration& i, std::vector<std::uint32_t>& out) {
    out.push_back(section_head(key_section::iteration, relation_words(static_cast<std::uint32_t>(i.beyond.size()))));
    out.push_back(i.steps | static_cast<std::uint32_t>(i.base) << 16);
    write_steps(i.beyond, out);
}

/// Reads the sections behind the outputs.
void read_sections(word_reader& in, key& k) {
    for (std::size_t i = 0; i < k.operands.size(); ++i) {
        if (!has_text(k, i)) continue;
        const std::uint32_t head = in.next();
        require((head & 0xffu) == static_cast<std::uint32_t>(key_section::text) && head >> 8 <= in.left(),
                "has an operand without its text");
        read_text(in, head >> 8, k.operands[i]);
    }
    if (in.left() == 0) return;
    const std::uint32_t head = in.next(), each = relation_words(static_cast<std::uint32_t>(k.axes.size()));
    const std::size_t words = head >> 8;
    require((head & 0xffu) == static_cast<std::uint32_t>(key_section::relations) && words <= in.left() && words != 0 &&
                words % each == 0,
            "has words after its end");
    for (std::size_t r = 0; r < words / each; ++r) k.relations.push_back(read_relation(in, k));
    if (in.left() == 0) return;
    require(in.next() == section_head(key_section::iteration, each) && in.left() == each, "has words after its end");
    k.iteration = read_iteration(in, k);
}

void write_operand(const operand_class& o, std::vector<std::uint32_t>& out) {
    out.resize(out.size() + head_words);
    o.head.write(out.data() + out.size() - head_words);
    for (std::size_t a = 0; a < o.strides.size(); ++a) {
        if (a % stride_classes_per_word == 0) out.push_back(0);
        out.back() |= static_cast<std::uint32_t>(o.strides[a]) << 2 * (a % stride_classes_per_word);
    }
}

void describe_steps(const std::vector<std::int8_t>& steps, std::string& out) {
    for (std::size_t a = 0; a < steps.size(); ++a) out += (a != 0 ? " " : "") + std::to_string(steps[a]);
    out += ']';
}

void describe_operand(const operand_class& o, std::string& out) {
    if (o.head.kind == operand_kind::text) {
        out += "text " + o.text.substr(0, o.text.find('\0'));
        return;
    }
    if (o.head.kind == operand_kind::generator) out += "random ";
    if (o.head.kind == operand_kind::raw) out += "raw ";
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
    if (o.head.repeats) out += " repeating";
    if (o.head.aliased) out += " in place";
    constexpr const char* uses[] = {"", " index", " index wrapped", " index clipped", " index unchecked"};
    out += uses[static_cast<std::size_t>(o.head.index)];
    if (o.head.suits_library) out += " as a library has it";
    if (o.head.few_places != 0) out += " of 2^" + std::to_string(o.head.few_places) + " elements at most";
}

}  // namespace

key decode(std::span<const std::uint32_t> words) {
    word_reader in(words);
    key k;
    k.header = read_header(in);
    std::vector<bool> of_library{false};  // for each owner of axes
    for (std::uint32_t i = 0; i < k.header.program; ++i) {
        const word w = in.next();
        require((w & 15u) <= static_cast<std::uint32_t>(word_kind::scatter) && (w >> 4 & 0xffu) < dtype_count,
                "has no such program word");
        require(kind_of_word(w) != word_kind::map || code_of_word(w) < op_count, "has no such operator");
        const bool folds = kind_of_word(w) == word_kind::reduce || kind_of_word(w) == word_kind::scan;
        require(!folds || code_of_word(w) <= static_cast<std::uint32_t>(fold::user), "has no such fold");
        require(kind_of_word(w) != word_kind::library || code_of_word(w) < library_function_count,
                "has no such library function");
        require(kind_of_word(w) != word_kind::user || arity_of_word(w) <= most_arguments, "takes too many values");
        require(
            kind_of_word(w) != word_kind::scatter || code_of_word(w) <= static_cast<std::uint32_t>(scatter_rule::min),
            "has no such rule of scattering");
        require(kind_of_word(w) != word_kind::text || code_of_word(w) == 0, "has no such program word");
        require(
            kind_of_word(w) != word_kind::unravel || code_of_word(w) <= static_cast<std::uint32_t>(place_rule::wrap),
            "has no such rule of places");
        require(kind_of_word(w) != word_kind::gather || code_of_word(w) <= static_cast<std::uint32_t>(unchecked_mode),
                "has no such index mode");
        require(kind_of_word(w) != word_kind::generator ||
                    code_of_word(w) < static_cast<std::uint32_t>(generator_kind::integers) ||
                    w == make_word(word_kind::generator, dtype::u4, static_cast<word>(generator_kind::integers)),
                "has no such generator");
        if (is_binder(kind_of_word(w))) of_library.push_back(kind_of_word(w) == word_kind::library);
        k.program.push_back(w);
    }
    for (std::uint32_t a = 0; a < k.header.axes; ++a) {
        const std::uint32_t both[axis_words] = {in.next(), in.next()};
        const axis_class& axis = k.axes.emplace_back(axis_class::read(both));
        require(axis.partner <= a, "pairs an axis with a later one");
        const bool binds_library = axis.owner < of_library.size() && of_library[axis.owner];
        const std::uint16_t bound_flags = binds_library ? axis_flags::short_inner : axis_flags::reads_again;
        const bool may_have_extent = axis.owner == 0 || (axis.flags & axis_flags::reads_again & bound_flags) != 0;
        require(axis.owner == 0 ? axis.flags <= axis_flags::all && axis.length_class == 0 && axis.subclass == 0
                                : (axis.flags & ~bound_flags) == 0 && (may_have_extent || axis.extent == 0),
                "says of an axis what is another's to say");
        require(axis.length_class <= length_class::looped, "has no such length class");
        require(axis.subclass <= (axis.length_class == 1 ? 6 : 2), "has no such part of a length class");
        require(axis.extent <= (axis.owner == 0 ? 31 : 32), "has the extent of an axis that is not short");
        require(axis.owner != 0 || a == 0 || k.axes[a - 1].owner == 0, "does not begin with the outputs' axes");
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
    read_sections(in, k);
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
    for (const axis_class& a : k.axes) {
        words.resize(words.size() + axis_words);
        a.write(words.data() + words.size() - axis_words);
    }
    for (const operand_class& o : k.operands) write_operand(o, words);
    for (const operand_class& o : k.outputs) write_operand(o, words);
    for (std::size_t i = 0; i < k.operands.size(); ++i)
        if (has_text(k, i)) write_text(k.operands[i], words);
    if (!k.relations.empty()) write_relations(k, words);
    if (k.iteration.steps > 1) write_iteration(k.iteration, words);
    return words;
}

std::string describe(const key& k) {
    std::string out = k.header.where == target::host ? "host" : "sm_" + std::to_string(k.header.architecture);
    constexpr const char* modes[] = {"", " strict", " fast", " tf32"};
    out += modes[static_cast<std::size_t>(k.header.math)];
    out += k.header.wide_index ? " 64-bit" : " 32-bit";
    if (k.header.past_caches) out += " past caches";
    out += " axes[";
    for (const axis_class& a : k.axes) {
        if (&a != k.axes.data()) out += ' ';
        out += a.owner == 0 ? std::string("out") : "b" + std::to_string(a.owner - 1);
        if (a.partner != 0) out += "~" + std::to_string(a.partner - 1);
        if (a.length_class != 0) out += ":" + std::to_string(a.length_class);
        if (a.flags != 0) out += ":" + std::to_string(a.flags);
        if (a.subclass != 0) out += "/" + std::to_string(a.subclass);
        if (a.extent != 0) out += "/" + std::to_string(a.extent);
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
    out += ')';
    for (const view_relation& r : k.relations) {
        out += (&r == k.relations.data() ? " relations " : ", ") + std::to_string(r.operand) + "=" +
               std::to_string(r.base) + "+[";
        describe_steps(r.steps, out);
    }
    if (k.iteration.steps > 1) {
        out += " stepped " + std::to_string(k.iteration.steps) + " times " + std::to_string(k.iteration.base) + "+[";
        describe_steps(k.iteration.beyond, out);
    }
    return out;
}

}  // namespace ingot::codegen
