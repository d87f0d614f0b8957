// How a kernel of rows goes over its elements on the host, in strips (host/choice.hpp): all work on a strip is a loop
// over j that the system's compiler vectorises.
//
// Functions of the mathematical library round differently when vectorised. Where one is called, a strip is computed in
// whole vectors (host/loops.hpp), its end from padded copies, so that bits do not depend on an element's place.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codegen/host/choice.hpp"
#include "codegen/host/packed_strips.hpp"

namespace ingot::codegen {

class host_walk {
public:
    static constexpr int most_at_once = 4;

    /// `kept_axes`: the walk's axes, which number the rows.
    host_walk(kernel_builder& b, std::vector<int> kept_axes, const strips_choice& c);

    direction way() const { return choice_.way; }
    std::uint32_t strip() const { return strip_; }
    bool across() const { return choice_.across(); }
    bool split() const { return choice_.in_pieces(); }
    /// Kept axes on which all rows of a strip are at one point.
    std::uint64_t outer_axes() const {
        return packed_ ? 0 : across() ? kept_axes() & ~axis_bit(kept_axes_.back()) : kept_axes();
    }
    std::uint64_t kept_axes() const {
        std::uint64_t axes = 0;
        for (const int a : kept_axes_) axes |= axis_bit(a);
        return axes;
    }

    /// Opens the loop over blocks; reads operands and computes values below `roots` that are constant in a block.
    void open_block(const std::vector<node_id>& roots);
    void close_block();
    /// The linear number of the block's (first) row.
    std::string first_row() const;
    /// A value that one loop over strips computes and later ones need: it has a place for each element of the block's
    /// rows. `to` is the text of element j's place, where `strips` is told to keep it, and its name from there on.
    struct cached_value {
        node_id node;
        std::string array;
        std::string to() const { return array + "_strip[j]"; }
    };
    void declare_cached(const cached_value& k, std::uint32_t row_length);
    /// Copies short rows that are further apart than their elements side by side first, inputs as cached values;
    /// `unstage` copies the space's outputs back. Writes nothing for other rows. `n`: their length.
    void stage(const folded_space& s, const std::string& n);
    void unstage(const folded_space& s, const std::string& n);
    /// A loop over the strips of elements [from, to) of a space; `body` is written with the inputs of `values` named.
    /// `several`: it may also be written for several strips at once.
    void strips(const folded_space& s, const std::string& from, const std::string& to,
                const std::vector<node_id>& values, const std::function<void()>& body,
                const std::vector<cached_value>& keep = {}, bool several = false);
    /// Within a strip: a loop over its elements, which writes statements made from the values of nodes.
    using statements = std::function<void(const std::vector<std::string>&)>;
    void elements(const std::vector<node_id>& values, const statements& of);
    /// Across, one loop over elements may serve several strips: the number of the present one, and how many there are.
    int strip_in_turn() const { return turn_; }
    int strips_at_once() const { return at_once_; }
    /// The number of an element's strip, counted from `from`, in the loop of `elements`.
    std::string strip_number(const std::string& from) const;
    /// Outputs that move along a space, within a strip of it: (1) the address of their elements; (2) the store of
    /// element j of each; (3) the rest of the work, behind the loop over elements.
    void open_outputs(const folded_space& s);
    void put(const folded_space& s, std::span<const std::string> values);
    void close_outputs(const folded_space& s);
    /// Across: stores the outputs that have one value a row.
    void store_rows(const std::vector<std::size_t>& outputs);

private:
    /// An array or a random leaf. A strip of a random leaf holds the numbers of elements.
    struct input {
        array_argument at;
        std::string type;
        bool random;
    };
    /// An input that moves from strip to strip where one loop serves several: element j of the first strip is at
    /// `start` and `along`; each next strip is one `step` further.
    struct in_turn {
        input of;
        std::string start, along, step;
    };
    void read_before_choices(const std::vector<node_id>& values, int& elements_read);
    std::vector<input> unread(std::uint64_t known, std::uint64_t lanes, const std::vector<bool>& required);
    int lane_axis(const folded_space& s) const { return across() ? kept_axes_.back() : s.inner(); }
    /// The axes along which a strip's lanes lie; `lane` is the last of them, or negative.
    std::uint64_t lane_axes(int lane) const { return packed_ ? kept_axes() : lane < 0 ? 0 : axis_bit(lane); }
    /// The distance of lane j from the strip's start: "j * p.x0_stride0".
    std::string lane_offset(const array_argument& at, int lane) {
        return packed_ ? packed_strips::offset_of(at) : 'j' + b_.times_stride(at, lane);
    }
    void declare_packing();
    std::uint64_t axes_of(node_id n) const { return b_.graph.nodes[n].axes; }
    std::string as_read(node_id n, const std::string& element) {
        return b_.needs.element(b_.graph.nodes[n].type, element);
    }
    std::string start_of(const input& in, std::uint64_t axes);
    bool is_copied(const input& in, int lane, bool whole) const;
    bool wants_whole_strips(const std::vector<node_id>& values) const;
    std::string generated(const input& in, const std::string& number);
    void declare_copies(const std::vector<input>& inputs, int lane, bool whole);
    std::string pad(const std::string& name) const;
    void read(const std::vector<input>& inputs, std::uint64_t known, int lane, bool whole);
    void name_for_turn();
    bool unrolls_strips(const folded_space& s, const std::vector<node_id>& values) const;
    void write_unrolled_strips(const folded_space& s, const std::string& from, const std::string& to,
                               const std::vector<input>& inputs, const std::function<void()>& body);
    bool is_staged(const array_argument& at, const folded_space& s) const;
    void copy_rows(const array_argument& at, const folded_space& s, const std::string& n, bool back);
    std::uint32_t pitch() const {
        return strip_ + 16;
    }  // of cached values, so that no two are a multiple of a page apart
    bool has_runs(const folded_space& s) const { return !across() && s.axes.size() > 1; }
    void over_runs(const folded_space& s, const std::function<void()>& run);
    void scatter(const array_argument& z, std::uint64_t known);
    void assign(const folded_space* s, const std::vector<std::size_t>& outputs, std::span<const std::string> values,
                int lane);
    void read_runs(const folded_space& s, const std::vector<input>& inputs);

    kernel_builder& b_;
    std::vector<int> kept_axes_;
    const strips_choice& choice_;
    const std::uint32_t strip_;
    std::vector<cached_value> cached_values_;
    std::optional<packed_strips> packed_;
    bool staged_ = false;
    int arrays_ = 0;
    int at_once_ = 1, turn_ = 0;
    std::vector<in_turn> in_turn_;
};

}  // namespace ingot::codegen
