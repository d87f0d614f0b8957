// Folds over bound axes for the host: strips (host_walk.hpp) of lanes (host_lanes.hpp). A block has one row, or a piece
// of a long one; or, across memory, some neighbouring rows at once, or a piece of them.
//
// Few partial results are added in the elements' own dtype: after a group of strips they are joined, of floats in
// double, so that the error does not grow with the length. Pieces of rows meet in the scratch, where whichever comes
// last joins them by their number: the order of joining depends on the sizes alone, never on the number of threads.
#include <algorithm>
#include <span>

#include "codegen/host_lanes.hpp"
#include "codegen/host_walk.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

/// How far a piece of rows and a group of strips reach along the row, and from which length on there are several.
struct reach {
    std::uint32_t piece, group;
    std::uint8_t pieces_from, groups_from;  // buckets
};
constexpr reach along_reach{1u << 15, 1u << 15, 12, 12};
constexpr reach across_reach{512, 64, 6, 3};

std::uint8_t longest(const folding& f) {
    std::uint8_t bucket = 1;
    for (const folded_space& s : f.spaces) bucket = std::max(bucket, s.bucket);
    return bucket;
}

formula pieces_of(const folding& f, direction d) {
    const reach r = d == direction::across ? across_reach : along_reach;
    const std::uint8_t bucket = longest(f);
    if (bucket < r.pieces_from) return {};
    const auto space = std::ranges::find(f.spaces, bucket, &folded_space::bucket);
    return {.inner = space->bits(), .inner_divide = r.piece};
}

class host_fold {
public:
    host_fold(const key& k, const graph& g, const folding& f)
        : b_(k, g),
          spaces_(f.spaces),
          results_(f.results),
          way_(choose_direction(b_, f.spaces)),
          walk_(b_, way_, strip_of(b_, f.spaces, way_), pieces_of(f, way_)),
          reach_(walk_.across() ? across_reach : along_reach),
          folds_(folds_of(f, g, b_.needs)) {
        for (std::vector<fold_writer>& of_space : folds_)
            for (fold_writer& fold : of_space) {
                lanes_.emplace_back(fold, g, lanes_.size(), walk_.strip(), b_.needs);
                words_ += fold.words();
            }
    }

    void write(plan& p) {
        b_.name_scalars();
        std::vector<node_id> values;
        for (const folded_space& s : spaces_) {
            const std::vector<node_id> wanted = s.wanted(b_.graph);
            values.insert(values.end(), wanted.begin(), wanted.end());
        }
        walk_.open_block(values);
        std::size_t first = 0;
        for (std::size_t s = 0; s < spaces_.size(); ++s) {
            write_space(s, first);
            first += folds_[s].size();
        }
        if (walk_.split()) write_finish();
        write_results();
        b_.code.close();
        std::vector<node_id> roots_of_results;
        for (const std::size_t k : results_) roots_of_results.push_back(b_.graph.roots[k]);
        launch& step = b_.step;
        step.kernel = "reduce";
        step.threads = 1;
        describe(step);
        for (const folded_space& s : spaces_)  // what is folded, and an operation to join it
            step.work.push_back(
                {walk_.kept_axes() | s.bits(), cost_of(b_.graph, s.wanted(b_.graph)) + s.reductions.size()});
        step.work.push_back({walk_.kept_axes(), cost_of(b_.graph, roots_of_results)});
        p.source = b_.assemble(
            p.expression,
            "extern \"C\" void reduce(const arguments* given, unsigned long long begin, unsigned long long end)");
        p.steps.push_back(std::move(step));
    }

private:
    void describe(launch& step) const {
        const std::string rows = walk_.across() ? std::to_string(walk_.strip()) + " neighbouring rows" : "a row";
        step.pattern = walk_.split() ? "split reduction" : walk_.across() ? "column reduction" : "row reduction";
        step.reason = walk_.split() ? "pieces of " + rows + ", " + std::to_string(reach_.piece) + " elements each"
                                    : "a block " + rows;
    }

    /// What all of a row is folded to: a variable, or across memory a place in an array.
    std::string whole(const fold_writer& f) const { return walk_.across() ? f.name() + "[j]" : f.name(); }
    std::string whole_type(fold_writer& f) const { return walk_.across() ? f.wide_type() : f.type(); }

    void write_space(std::size_t number, std::size_t first_fold) {
        source_writer& out = b_.code;
        const folded_space& s = spaces_[number];
        const std::string suffix = spaces_.size() == 1 ? "" : std::to_string(number), index = b_.linear();
        const std::string n = b_.count({.axes = s.bits()}, "folded" + suffix);
        for (fold_writer& f : folds_[number]) {
            out.line(walk_.across() ? "alignas(64) " : "", whole_type(f), ' ', f.name(),
                     walk_.across() ? '[' + std::to_string(walk_.strip()) + ']' : "", ";");
            const std::string result = f.result(whole(f));
            b_.body.name(f.reduction(), whole_type(f) == f.type() ? result : f.type() + '(' + result + ')');
        }
        std::string from = "0", to = n;
        const bool groups = walk_.split() ? reach_.piece > reach_.group : s.bucket >= reach_.groups_from;
        const bool several = groups || (walk_.split() && spaces_.size() > 1);
        if (several)
            for (fold_writer& f : folds_[number]) start_whole(f);
        if (walk_.split() && spaces_.size() > 1)
            out.open("for (", index, " from = piece * ", reach_.piece, "; from < ", n, "; from += pieces * ",
                     reach_.piece, ")");
        else
            out.open();
        if (walk_.split()) {
            if (spaces_.size() == 1) out.line("const ", index, " from = piece * ", reach_.piece, ";");
            out.line("const ", index, " to = ", n, " - from < ", reach_.piece, " ? ", n, " : from + ", reach_.piece,
                     ";");
            from = "from", to = "to";
        }
        if (groups) {
            out.open("for (", index, " group = ", from, "; group < ", to, "; group += ", reach_.group, ")");
            out.line("const ", index, " end_of_group = ", to, " - group < ", reach_.group, " ? ", to, " : group + ",
                     reach_.group, ";");
            from = "group", to = "end_of_group";
        }
        write_group(number, first_fold, from, to, several);
        if (groups) out.close();
        out.close();
    }

    void start_whole(fold_writer& f) {
        const std::string start = walk_.across() ? f.wide_start() : f.start();
        b_.code.line(walk_.across() ? "for (int j = 0; j < m; ++j) " : "", whole(f), " = ", start, ";");
    }

    void write_group(std::size_t number, std::size_t first_fold, const std::string& from, const std::string& to,
                     bool one_of_many) {
        source_writer& out = b_.code;
        const std::span<lane_fold> lanes(lanes_.data() + first_fold, folds_[number].size());
        for (const lane_fold& l : lanes) {
            l.declare(out);
            l.start(out, walk_.across() ? "m" : std::to_string(walk_.strip()));
        }
        const folded_space& s = spaces_[number];
        const std::vector<node_id> wanted = s.wanted(b_.graph);
        walk_.strips(s, from, to, wanted, [&] {
            walk_.open_outputs(s);
            walk_.elements(wanted, [&](const std::vector<std::string>& values) {
                for (std::size_t i = 0; i < lanes.size(); ++i)
                    out.line(lanes[i].join(values[i], walk_.strip_number(from)));
                for (std::size_t i = 0; i < s.outputs.size(); ++i)
                    out.line(walk_.element_of(s.outputs[i], s), " = ", values[lanes.size() + i], ";");
            });
            walk_.close_outputs(s);
        });
        for (const lane_fold& l : lanes) {
            const std::string name = whole(l.fold());
            const std::string part = walk_.across() ? l.lane(from) : l.joined(from);
            const std::string joiner = walk_.across() ? l.fold().wide_joiner() : l.fold().joiner();
            out.line(walk_.across() ? "for (int j = 0; j < m; ++j) " : "", name, " = ",
                     one_of_many ? joiner + "::join(" + name + ", " + part + ')' : part, ";");
        }
    }

    /// Slots as on CUDA: a counter a row, then one for each piece, word and row.
    void write_finish() {
        source_writer& out = b_.code;
        const std::string u8 = b_.needs.type(dtype::u8), rows = b_.count({.axes = walk_.kept_axes()}, "rows");
        const std::string scratch = b_.arguments.member({argument_kind::scratch_pointer}, u8 + '*', "scratch");
        const std::string row = walk_.first_row(), j = walk_.across() ? " + j" : "";
        b_.step.scratch_count = {.axes = walk_.kept_axes()};
        b_.step.scratch_count.inner = b_.step.grid[1].inner;
        b_.step.scratch_count.inner_divide = b_.step.grid[1].inner_divide;
        b_.step.scratch_bytes = 8 * (words_ + 1);
        b_.needs.add("slots",
                     "/// A slot of the scratch: written by one block, read and cleared by the one that finishes.\n"
                     "template <class type>\nstatic inline void put(uint64* slot, type v) {\n"
                     "    __builtin_memcpy(slot, &v, sizeof v);\n}\n\n"
                     "template <class type>\nstatic inline type take(uint64* slot) {\n"
                     "    type v;\n    __builtin_memcpy(&v, slot, sizeof v);\n    *slot = 0;\n    return v;\n}\n");
        out.line(u8, "* const slots = ", scratch, " + ", rows, " + ", row, ";");
        out.line("const ", u8, " stride = ", u8, '(', rows, ") * ", words_, ";");
        std::uint32_t word = 0;
        for (const lane_fold& l : lanes_)
            for (std::uint32_t i = 0; i < l.fold().words(); ++i)
                out.line(walk_.across() ? "for (int j = 0; j < m; ++j) " : "", "put(slots + piece * stride",
                         slot(word++), j, ", ", l.fold().word(i, whole(l.fold())), ");");
        out.line("if (__atomic_add_fetch(", scratch, " + ", row, ", 1, __ATOMIC_ACQ_REL) != pieces) continue;");
        out.line(scratch, "[", row, "] = 0;");
        word = 0;
        for (const lane_fold& l : lanes_) {
            fold_writer& f = l.fold();
            std::string taken;
            for (std::uint32_t i = 0; i < f.words(); ++i) {
                const std::string type = walk_.across() && !f.places() ? f.wide_type() : f.word_type(i);
                taken += (i == 0 ? "take<" : ", take<") + type + ">(slots + s * stride" + slot(word++) + j + ')';
            }
            if (f.places()) taken = f.type() + '{' + taken + '}';
            const std::string pieces = "for (" + b_.linear() + " s = 0; s < pieces; ++s)";
            const auto join_to = [&](const std::string& name) {
                return name + " = " + f.wide_joiner() + "::join(" + name + ", " + taken + ");";
            };
            if (walk_.across()) {
                start_whole(f);
                out.line(pieces);
                out.line("    for (int j = 0; j < m; ++j) ", join_to(whole(f)));
            } else {
                out.line(f.wide_type(), ' ', f.whole(), " = ", f.wide_start(), ";");
                out.line(pieces, ' ', join_to(f.whole()));
                out.line(f.name(), " = ", f.wide_type() == f.type() ? f.whole() : f.type() + '(' + f.whole() + ')',
                         ";");
            }
        }
    }
    std::string slot(std::uint32_t i) { return i == 0 ? "" : " + " + std::to_string(i) + " * p.rows"; }

    void write_results() {
        if (walk_.across()) return walk_.store(results_);
        for (const std::size_t k : results_)
            b_.code.line("*(", b_.pointer(b_.outputs[k]), b_.offset(b_.outputs[k], walk_.kept_axes()),
                         ") = ", b_.body.value(b_.graph.roots[k], b_.code), ";");
    }

    kernel_builder b_;
    const std::vector<folded_space>& spaces_;
    const std::vector<std::size_t>& results_;
    direction way_;
    host_walk walk_;
    reach reach_;
    std::vector<std::vector<fold_writer>> folds_;  // of each space
    std::vector<lane_fold> lanes_;                 // of all folds
    std::uint32_t words_ = 0;                      // of scratch for a row's partial results
};

}  // namespace

void emit_fold_host(const key& k, const graph& g, const folding& f, plan& p) { host_fold(k, g, f).write(p); }

}  // namespace ingot::codegen
