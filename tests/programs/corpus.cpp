// Prints what code generation makes of the keys that the suite met: corpus KEYS gives, for each different one, a hash
// of its source and of all its launches' numbers, for the host, sm_80, sm_90 and sm_100; sorted, so that the listings
// of two commits differ where generated kernels do. corpus KEYS NUMBER prints the key and the sources of one line.
//
// KEYS is a folder that tests wrote to where INGOT_KEEP_KEYS named it: files with a line of words for each key, in
// hexadecimal. tests/corpus builds two commits and compares what both make of the same keys.
#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/plan/schedule.hpp"
#include "runtime/front/launch.hpp"

using namespace ingot;

namespace {

/// FNV-1a, of 64 bits.
class hash {
public:
    void add(std::string_view text) {
        for (const char c : text) add_byte(static_cast<unsigned char>(c));
        add_byte(0);
    }
    void add(std::uint64_t number) {
        for (int i = 0; i < 8; ++i) add_byte(static_cast<unsigned char>(number >> 8 * i));
    }
    std::string text() const {
        std::ostringstream out;
        out.width(16);
        out.fill('0');
        out << std::hex << value_;
        return out.str();
    }

private:
    void add_byte(unsigned char b) { value_ = (value_ ^ b) * 0x100000001b3u; }
    std::uint64_t value_ = 0xcbf29ce484222325u;
};

/// Formulas are compared by their values for extents of some magnitudes.
constexpr std::array<std::array<index_t, 3>, 4> magnitudes{
    {{1, 1, 1}, {3, 17, 5}, {100, 31, 1000}, {4096, 300, 65537}}};
constexpr std::uint32_t processors = 132;

std::vector<index_t> extents_of(std::size_t axes, const std::array<index_t, 3>& magnitude) {
    std::vector<index_t> extents;
    for (std::size_t a = 0; a < axes; ++a) extents.push_back(magnitude[a % 3] + static_cast<index_t>(a / 3));
    return extents;
}

void add_launch(hash& h, const codegen::launch& s, std::size_t axes) {
    h.add(s.kernel);
    h.add(s.pattern);
    for (const std::uint64_t n : {std::uint64_t{s.threads}, std::uint64_t{s.shared_bytes}, std::uint64_t{s.cluster},
                                  std::uint64_t{s.programmatic_launch}, std::uint64_t{s.argument_bytes},
                                  std::uint64_t{s.scratch_before}, std::uint64_t{s.scratch_bytes}})
        h.add(n);
    for (const codegen::argument& a : s.arguments)
        for (const std::uint64_t n :
             {static_cast<std::uint64_t>(a.kind), std::uint64_t{a.bytes}, std::uint64_t{a.axis}, std::uint64_t{a.at}})
            h.add(n);
    for (const auto& magnitude : magnitudes) {
        const std::vector<index_t> extents = extents_of(axes, magnitude);
        for (const std::uint64_t n : runtime::grid_of(s, extents, processors)) h.add(n);
        for (const codegen::argument& a : s.arguments)
            if (a.kind == codegen::argument_kind::count || a.kind == codegen::argument_kind::divisor)
                h.add(s.formulas[a.index].value(extents, processors));
        h.add(s.scratch_count.value(extents, processors));
    }
}

std::string hash_of(const codegen::key& k) {
    const codegen::plan p = codegen::make_plan(k);
    hash h;
    h.add(p.source);
    h.add(p.missing);
    h.add(p.contract);
    for (const codegen::launch& s : codegen::launches_of(p)) add_launch(h, s, k.axes.size());
    for (const codegen::temporary& t : p.temporaries) h.add(static_cast<std::uint64_t>(t.type));
    return h.text();
}

struct kind_of_target {
    detail::target where;
    std::uint32_t architecture;
};
constexpr std::array<kind_of_target, 4> targets{
    {{detail::target::host, 0}, {detail::target::cuda, 80}, {detail::target::cuda, 90}, {detail::target::cuda, 100}}};

codegen::key on(codegen::key k, kind_of_target t) {
    k.header.where = t.where;
    k.header.architecture = t.architecture;
    return k;
}

std::set<std::vector<std::uint32_t>> read_keys(const char* folder) {
    std::set<std::vector<std::uint32_t>> keys;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
        std::ifstream in(file.path());
        for (std::string line; std::getline(in, line);) {
            std::istringstream numbers(line);
            std::vector<std::uint32_t> words;
            for (std::uint32_t w; numbers >> std::hex >> w;) words.push_back(w);
            keys.insert(std::move(words));
        }
    }
    return keys;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::cerr << "corpus KEYS [NUMBER]\n";
        return 2;
    }
    try {
        struct line {
            std::string hashes;
            codegen::key key;
        };
        std::vector<line> lines;
        for (const std::vector<std::uint32_t>& words : read_keys(argv[1])) {
            line l{{}, codegen::decode(words)};
            for (const kind_of_target t : targets) l.hashes += (l.hashes.empty() ? "" : " ") + hash_of(on(l.key, t));
            lines.push_back(std::move(l));
        }
        std::ranges::sort(lines, {}, &line::hashes);
        const auto same = [](const line& a, const line& b) { return a.hashes == b.hashes; };
        lines.erase(std::unique(lines.begin(), lines.end(), same), lines.end());
        if (argc == 2) {
            for (const line& l : lines) std::cout << l.hashes << '\n';
            return 0;
        }
        const line& shown = lines.at(std::stoul(argv[2]) - 1);
        std::cout << describe(shown.key);
        for (const kind_of_target t : targets) {
            const codegen::plan p = codegen::make_plan(on(shown.key, t));
            std::cout << "\n== " << (t.where == detail::target::host ? "host" : "sm_" + std::to_string(t.architecture))
                      << '\n'
                      << describe(p) << p.source;
        }
    } catch (const std::exception& e) {
        std::cerr << e.what() << '\n';
        return 1;
    }
}
