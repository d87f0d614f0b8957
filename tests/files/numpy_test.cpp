// Files that pass between Ingot and NumPy, of every dtype, shape, order and version.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "runtime/files/npy.hpp"
#include "runtime/files/zip_writer.hpp"
#include "tests/cache/fixture.hpp"
#include "tests/files/patterns.hpp"
#include "tests/untested.hpp"

using namespace ingot;
using namespace ingot::test;

namespace {

const std::vector<std::vector<int>>& shapes() {
    static const std::vector<std::vector<int>> all{{},     {0},    {1},          {5},        {2, 3},
                                                   {0, 3}, {3, 0}, {10, 1, 100}, {200, 3, 4}};
    return all;
}

/// Everything that Ingot writes; a line for each array.
int write_all(const std::filesystem::path& folder) {
    std::ofstream lines(folder / "given.txt");
    npz_writer stored(folder / "stored.npz"), deflated(folder / "deflated.npz", compressed);
    runtime::output_file file("save", folder / "wide.npz");
    runtime::zip_writer wide(file, false, 100);
    int count = 0;
    for_each_numpy_type([&]<class T>() {
        for (const std::vector<int>& shape : shapes()) {
            const array<T> x = made<T>(shape);
            const std::string name = "given" + std::to_string(count++);
            lines << name << ' ' << ingot::name(x.dtype()) << ' ' << shape.size();
            for (const int extent : shape) lines << ' ' << extent;
            lines << '\n';
            save(folder / (name + ".npy"), x);
            stored.save(name, x);
            deflated.save(name, x);
            wide.begin_entry(name + ".npy");
            runtime::write_npy("", x.dtype(), x.as_leaf().memory(), x.as_leaf().where(),
                               [&](std::span<const std::byte> bytes) { wide.append(bytes); });
            wide.end_entry();
        }
    });
    stored.close();
    deflated.close();
    wide.finish();
    file.publish();
    return count;
}

std::string answer_of(const std::string& command) {
    std::FILE* const pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string text;
    for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
    CHECK(pclose(pipe) == 0);
    return text;
}

/// An array of a line of theirs.txt, from a .npy or a .npz.
void check_line(const std::filesystem::path& folder, const std::string& line) {
    std::istringstream words(line);
    std::string file, array_name, type;
    bool fortran_order = false;
    int rank = 0;
    words >> file >> array_name >> type >> fortran_order >> rank;
    std::vector<index_t> shape(static_cast<std::size_t>(rank));
    for (index_t& extent : shape) words >> extent;
    REQUIRE_MESSAGE(words, line);

    const std::string path = folder / file;
    const bool alone = array_name == "-";
    const npy_header h = alone ? npy_info(path) : load_npz(path).info(array_name);
    CHECK_MESSAGE(name(h.type) == type, line);
    CHECK_MESSAGE(h.shape == shape_like(shape), line);
    CHECK_MESSAGE(h.fortran_order == fortran_order, line);
    detail::with_element_type(h.type, [&]<class T>(std::type_identity<T>) {
        const array<T> x = alone ? load<T>(path) : load_npz(path).load<T>(array_name);
        CHECK_MESSAGE(x.shape() == shape_like(shape), line);
        CHECK_MESSAGE(is_made(x), line);
    });
}

}  // namespace

TEST_CASE("NumPy writes the same bytes, and what it writes is read: every dtype, shape, order, version and archive") {
    const char* const python = std::getenv("INGOT_PYTHON");
    if (!python) return untested("INGOT_PYTHON names no Python with NumPy, as tests/run does");
    const scratch_directory scratch;
    const std::filesystem::path& folder = scratch.path();
    const int count = write_all(folder);
    CHECK(answer_of("'" + std::string(python) + "' '" INGOT_TEST_SOURCES "/oracle/files.py' '" + folder.string() +
                    "'") == std::to_string(count) + '\n');
    std::ifstream theirs(folder / "theirs.txt");
    int read = 0;
    for (std::string line; std::getline(theirs, line); ++read) check_line(folder, line);
    CHECK(read > 1900);
    const std::vector<std::string> names = load_npz(folder / "e.npz").names();
    CHECK(names == std::vector<std::string>{"größe", "a/b", "zeros"});
}

TEST_CASE("any expression is saved, in C order") {
    const scratch_directory scratch;
    const std::string path = scratch.path() / "x.npy", whole = scratch.path() / "whole.npy";
    const array<int> x = reshape(arange<int>(24), {2, 3, 4});
    const auto saved = [&](const auto& e) {
        save(path, e);
        save(whole, eval(e));
        CHECK(content(path) == content(whole));
        const auto back = load<typename std::remove_cvref_t<decltype(e)>::value_type>(path);
        CHECK(array_equal(back, e).item());
        return back.shape();
    };
    CHECK(saved(x.T()) == shape_like{4, 3, 2});
    CHECK(saved(x(1, all, slice(none, none, 2))) == shape_like{3, 2});
    CHECK(saved(x(1)) == shape_like{3, 4});
    CHECK(saved(broadcast_to(x(0, 0), {5, 4})) == shape_like{5, 4});
    CHECK(saved(sqrt(x + 1)) == shape_like{2, 3, 4});
    CHECK(saved(sum(x)) == shape_like{});
    lazy<int> t = x;
    CHECK(saved(t * 2) == shape_like{2, 3, 4});
}

TEST_CASE("what is loaded lies on the current device, and is saved from any") {
    const scratch_directory scratch;
    const std::string path = scratch.path() / "x.npy";
    const array<float> there = arange<float>(5).to(device::host(1));
    save(path, there * 2);
    const with_device second(device::host(1));
    const array<float> x = load<float>(path);
    CHECK(x.device() == device::host(1));
    CHECK(x.to_host() == std::vector<float>{0, 2, 4, 6, 8});
}

TEST_CASE("load_any gives the array in the file's dtype") {
    const scratch_directory scratch;
    const std::string path = scratch.path() / "x.npy";
    for_each_numpy_type([&]<class T>() {
        save(path, made<T>({3, 2}));
        CHECK(load_any(path, [](const auto& x) { return is_made(x) ? x.dtype() : dtype::bf; }) == detail::dtype_of<T>);
    });
}

TEST_CASE("large arrays pass in pieces, to a file and back") {
    const scratch_directory scratch;
    const std::string path = scratch.path() / "x.npy", archive = scratch.path() / "x.npz";
    const array<std::int16_t> x = made<std::int16_t>({3, 1'500'001});
    save(path, x);
    savez_compressed(archive, x);
    const std::string bytes = content(path);
    REQUIRE(bytes.size() == 128 + static_cast<std::size_t>(x.nbytes()));
    const std::vector<std::byte> wanted = pattern(x.dtype(), static_cast<std::size_t>(x.nbytes()));
    CHECK(std::memcmp(bytes.data() + 128, wanted.data(), wanted.size()) == 0);
    CHECK(is_made(load<std::int16_t>(path)));
    CHECK(is_made(load_npz(archive).load<std::int16_t>("arr_0")));
}

TEST_CASE("of a large file in Fortran order there is no second copy in memory") {
    const scratch_directory scratch;
    const std::string path = scratch.path() / "x.npy";
    constexpr int n = 24'000'001;
    const std::vector<std::byte> bytes = pattern(dtype::u1, std::size_t{2} * n);
    const std::string elements(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const array<std::uint8_t> in_order = made<std::uint8_t>({2, n});
    for (const bool wide : {true, false}) {
        const std::string shape = wide ? "(24000001, 2)" : "(2, 24000001)";
        write_file(path, npy_file("{'descr': '|u1', 'fortran_order': True, 'shape': " + shape + "}", elements));
        memory_pool pool = default_memory_pool(), pinned = default_pinned_memory_pool();
        pool.free_all_blocks();
        pinned.free_all_blocks();
        const std::size_t before = pool.total_bytes() + pinned.total_bytes();
        const array<std::uint8_t> x = load<std::uint8_t>(path);
        CHECK(pool.total_bytes() + pinned.total_bytes() - before < 2 * bytes.size());
        if (wide)
            CHECK(array_equal(x.T(), in_order).item());
        else
            CHECK(array_equal(x.T(), reshape(in_order, {n, 2})).item());
    }
}
