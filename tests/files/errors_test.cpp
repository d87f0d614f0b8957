// The error messages of files, and the files that remain where saving fails.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <limits>
#include <stdexcept>

#include "runtime/files/zlib.hpp"
#include "tests/cache/fixture.hpp"
#include "tests/files/patterns.hpp"

#if __has_include(<zlib.h>)
#include <cstddef>

#include <zlib.h>

static_assert(sizeof(::z_stream) == sizeof(ingot::runtime::z_stream) &&
              offsetof(::z_stream, avail_out) == offsetof(ingot::runtime::z_stream, avail_out) &&
              offsetof(::z_stream, state) == offsetof(ingot::runtime::z_stream, state) &&
              offsetof(::z_stream, adler) == offsetof(ingot::runtime::z_stream, adler));
#endif

using namespace ingot;
using namespace ingot::test;
namespace fs = std::filesystem;

namespace {

/// The message of load<float> for a file with this content; FILE stands for its name.
std::string said_of(const std::string& bytes) {
    const scratch_directory scratch;
    const std::string path = scratch.path() / "x.npy";
    write_file(path, bytes);
    std::string text = thrown<error>([&] { load<float>(path); });
    if (const auto at = text.find(path); at != text.npos) text.replace(at, path.size(), "FILE");
    return text;
}
std::string said_of_dict(const std::string& dict) { return said_of(npy_file(dict, "")); }

/// Files may be no longer than this, until the end.
class file_size_limit {
public:
    explicit file_size_limit(rlim_t bytes) {
        getrlimit(RLIMIT_FSIZE, &before_);
        rlimit now = before_;
        now.rlim_cur = bytes;
        setrlimit(RLIMIT_FSIZE, &now);
    }
    file_size_limit(const file_size_limit&) = delete;
    ~file_size_limit() { setrlimit(RLIMIT_FSIZE, &before_); }

private:
    rlimit before_{};
};

std::size_t files_in(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("an error of a .npy file names the file, what was found and what was wanted") {
    const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    const std::string six(24, 'x');
    const auto malformed = [](const std::string& dict) {
        CHECK_MESSAGE(said_of_dict(dict).starts_with("[load] FILE: its header has "), dict, said_of_dict(dict));
    };
    CHECK(said_of(npy_file(good, six)) == "nothing was thrown");
    CHECK(said_of(npy_file(good, six, 3)) == "nothing was thrown");
    CHECK(said_of("") == "[load] FILE: has 0 bytes, too few for a .npy file");
    CHECK(said_of("no array at all") == "[load] FILE: begins with 'no arr', and a .npy file with byte 147 and 'NUMPY'");
    CHECK(said_of("PK\3\4 and so on") ==
          "[load] FILE: is a zip archive, which load_npz reads, and a .npy file is wanted");
    CHECK(said_of(npy_file(good, six, 4)) ==
          "[load] FILE: is of the format's version 4.0, and 1.0, 2.0 or 3.0 is wanted");
    CHECK(said_of(npy_file(good, six).substr(0, 40)) ==
          "[load] FILE: has 30 of its header's 59 bytes: it is cut short");
    CHECK(said_of(npy_file(good, six + "y")) ==
          "[load] FILE: too long: has 25 bytes behind the header, where shape (2, 3) of float32 wants 24");
    CHECK(said_of(npy_file(good, "x")) ==
          "[load] FILE: cut short: has 1 bytes behind the header, where shape (2, 3) of float32 wants 24");
    CHECK(said_of_dict("{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }") ==
          "[load] FILE: holds float64, and float32 is wanted");
    CHECK(said_of_dict("{'descr': '<U5', 'fortran_order': False, 'shape': (0,), }") ==
          "[load] FILE: holds elements of the dtype '<U5', which Ingot has not");
    CHECK(said_of_dict("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (0,), }") ==
          "[load] FILE: holds records, and numbers are wanted");
    CHECK(said_of_dict("{'descr': '<f4', 'fortran_order': False, 'shape': (4000000000, 4000000000), }") ==
          "[load] FILE: shape (4000000000, 4000000000) of float32 has too many elements");
    CHECK(said_of_dict("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }") ==
          "[load] FILE: an extent in its header is too large: '99999999999999999999,), }'");
    CHECK(said_of_dict("{'descr': '<f4', 'shape': (0,), }") == "[load] FILE: its header has no key 'fortran_order'");
    CHECK(said_of_dict("{'descr': '<f4', 'order': False}") ==
          "[load] FILE: its header has the key 'order', and wants 'descr', 'fortran_order' and 'shape'");
    CHECK(said_of_dict("{'descr' '<f4'}") ==
          "[load] FILE: its header has ''' at character 9, where ':' is wanted: '{'descr' '<f4'}'");
    for (const char* const dict :
         {"", "{", "{}", "{'descr': '<f4'", "{'descr': '<f4', 'descr': '<f4'}", "{'descr: '<f4'}",
          "{'descr': '<f4', 'fortran_order': 0, 'shape': (0,)}",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (0)}",
          "{'descr': '<f4', 'fortran_order': False, 'shape': 0}",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (-0,)}",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (00,)}",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (0 0,)}",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (0,)} x",
          "{'descr': '<f4', 'fortran_order': not True, 'shape': (0,)}", "{'\\x64escr': '<f4'}"})
        malformed(dict);
    CHECK(said_of_dict("{'descr': '<f4', 'fortran_order': False, 'shape': (" + [] {
              std::string extents;
              for (int i = 0; i < 65; ++i) extents += "1,";
              return extents;
          }() + ")}") == "[load] FILE: its shape has more axes than the 64 that an array can have");
}

TEST_CASE("a header may have its keys in any order, either quotes, spaces and Python 2's integers") {
    const std::string six(24, '\0');
    for (const char* const dict :
         {"{'shape':(2,3),'descr':'<f4','fortran_order':False}\n",
          " { \"shape\" : ( 2L , 3L , ) , \"fortran_order\" : False , \"descr\" : \"<f4\" , } ",
          "{'descr': '=f4', 'fortran_order': False,\n 'shape': (2, 3)}"})
        CHECK_MESSAGE(said_of(npy_file(dict, six)) == "nothing was thrown", std::string(dict));
}

TEST_CASE("bytes of a bool that are neither 0 nor 1 are true") {
    const scratch_directory scratch;
    const std::string path = scratch.path() / "x.npy";
    write_file(path, npy_file("{'descr': '|b1', 'fortran_order': False, 'shape': (4,)}", std::string("\0\1\2\xff", 4)));
    CHECK(load<bool>(path).to_host() == std::vector<bool>{false, true, true, true});
}

TEST_CASE("files that cannot be opened, read or written are errors that name them") {
    const scratch_directory scratch;
    const std::string folder = scratch.path(), path = folder + "/x.npy", inside = folder + "/none/x.npy";
    CHECK(thrown<file_error>([&] { load<float>(path); }) == "[load] " + path + ": No such file or directory");
    CHECK(thrown<file_error>([&] { npy_info(path); }) == "[npy_info] " + path + ": No such file or directory");
    CHECK(thrown<file_error>([&] { load_any(path, [](const auto& x) { return x.size(); }); }) ==
          "[load_any] " + path + ": No such file or directory");
    CHECK(thrown<file_error>([&] { load_npz(path); }) == "[load_npz] " + path + ": No such file or directory");
    CHECK(thrown<file_error>([&] { load<float>(folder); }) ==
          "[load] " + folder + ": is a folder or a device, and a file is wanted");
    CHECK(thrown<file_error>([&] { load<float>("/dev/zero"); }) ==
          "[load] /dev/zero: is a folder or a device, and a file is wanted");
    CHECK(thrown<file_error>([&] { save("/dev/null", ones(3)); }) ==
          "[save] /dev/null: is a folder or a device, and a file is wanted");
    CHECK(thrown<file_error>([&] { save(inside, ones(3)); }) == "[save] " + inside + ": No such file or directory");
    const std::string two_names = path + '\0' + ".npy";  // the system would read the first
    save(path, ones(3));
    CHECK(thrown<file_error>([&] { load<float>(two_names); }) ==
          "[load] " + path + ": a zero byte follows in the name");
    CHECK(thrown<file_error>([&] { save(two_names, ones(4)); }) ==
          "[save] " + path + ": a zero byte follows in the name");
    CHECK(load<double>(path).size() == 3);
    std::filesystem::remove(path);
    CHECK(thrown<file_error>([&] { npz_writer out(inside); }) == "[save] " + inside + ": No such file or directory");
    CHECK(thrown<dtype_error>([&] { save(path, ones<bfloat16>(3)); }) ==
          "[save] " + path + ": NumPy has no dtype for bfloat16; astype<float> makes one that it has");
    CHECK(files_in(folder) == 0);
}

TEST_CASE("an archive says what it has, and what is wrong with it") {
    const scratch_directory scratch;
    const std::string path = scratch.path() / "x.npz";
    savez(path, named("x", arange<int>(3)), ones<float>(2));
    {
        const npz_file f = load_npz(path);
        CHECK(f.names() == std::vector<std::string>{"x", "arr_1"});
        CHECK((f.contains("x") && f.contains("x.npy") && !f.contains("y")));
        CHECK(f.dtype("arr_1") == dtype::f4);
        CHECK(f.shape("x") == shape_like{3});
        CHECK(thrown<file_error>([&] { f.load<float>("y"); }) ==
              "[load_npz] " + path + ": has no array 'y', and has x, arr_1");
        CHECK(thrown<dtype_error>([&] { f.load<float>("x"); }) ==
              "[load_npz] " + path + ", x: holds int32, and float32 is wanted");
    }
    const std::string bytes = content(path);
    const auto said_after = [&](const std::string& changed) {
        write_file(path, changed);
        return thrown<file_error>([&] { load_npz(path).load<int>("x"); });
    };
    const auto with = [&](std::size_t at, char c) {
        std::string changed = bytes;
        changed[at] = c;
        return changed;
    };
    const std::string no_end =
        "[load_npz] " + path +
        ": has no end record of a zip archive: it is no zip archive, or cut short, or bytes follow its end";
    CHECK(said_after(bytes + "y") == no_end);
    CHECK(said_after(bytes.substr(0, bytes.size() - 1)) == no_end);
    CHECK(said_after("") == no_end);
    const std::size_t data = bytes.find("NUMPY") + 127;  // the first element
    CHECK(said_after(with(data, 9)) ==
          "[load_npz] " + path + ", x: is damaged: its checksum differs from that in the archive");
    CHECK(said_after(with(30, 'y')) == "[load_npz] " + path + ", x: has another name than in the archive's directory");
    CHECK(said_after(with(0, 'y')) == "[load_npz] " + path + ", x: is not where the archive's directory says");
    const std::size_t entry = bytes.find("PK\1\2");
    CHECK(said_after(with(entry + 10, 12)) ==
          "[load_npz] " + path + ", x: is compressed by method 12, and 0 (stored) or 8 (deflate) is wanted");
    CHECK(said_after(with(entry + 8, 1)) == "[load_npz] " + path + ", x: is encrypted");
    CHECK(said_after(with(entry + 24, 1)) == "[load_npz] " + path + ", x: cannot hold 1 bytes in 140");
}

TEST_CASE("an archive's handle moves, and one that was moved away says so") {
    const scratch_directory scratch;
    const std::string path = scratch.path() / "x.npz";
    savez(path, arange<int>(3));
    npz_file f = load_npz(path);
    npz_file g = std::move(f);
    CHECK(g.load<int>("arr_0").to_host() == std::vector<int>{0, 1, 2});
    CHECK(thrown<file_error>([&] { f.names(); }) == "[load_npz] a file: this object was moved from");
    f = std::move(g);
    CHECK(f.contains("arr_0"));
}

TEST_CASE("without zlib an error names the package") {
    CHECK(runtime::zlib_api::files().absence.ends_with("; compressed .npz files want zlib (Debian: zlib1g)"));
}

TEST_CASE("a save that fails leaves the file that was there, and nothing else") {
    const scratch_directory scratch;
    const std::string path = scratch.path() / "x.npy";
    save(path, arange<int>(3));
    {
        const file_size_limit limit(1000);
        CHECK(thrown<file_error>([&] { save(path, zeros<int>(1000)); }) == "[save] " + path + ": File too large");
        CHECK(thrown<file_error>([&] { savez(path, zeros<int>(1000)); }) == "[save] " + path + ": File too large");
    }
    CHECK(load<int>(path).to_host() == std::vector<int>{0, 1, 2});
    CHECK(files_in(scratch.path()) == 1);
}

TEST_CASE("a .npz file appears when its writer ends well") {
    const scratch_directory scratch;
    const std::string path = scratch.path() / "x.npz";
    {
        npz_writer out(path);
        out.save("x", arange<int>(3));
        CHECK_FALSE(fs::exists(path));
    }
    CHECK(load_npz(path).load<int>("x").to_host() == std::vector<int>{0, 1, 2});
    CHECK_THROWS_AS(
        [&] {
            npz_writer out(path);
            out.save("y", arange<int>(4));
            throw std::runtime_error("left");
        }(),
        std::runtime_error);
    CHECK(load_npz(path).names() == std::vector<std::string>{"x"});

    npz_writer out(path, compressed);
    out.save("first", arange<int>(5));
    CHECK(thrown<file_error>([&] { out.save("first", arange<int>(6)); }) ==
          "[save] " + path + ", first: there is an array of this name already");
    {
        const array<double> noise = random::uniform<double>({1000});
        const file_size_limit limit(1000);  // a failed entry is not in the file
        CHECK_THROWS_AS(out.save("second", noise), file_error);
    }
    out.save("third", made<float>({100, 100}));
    out.close();
    out.close();
    CHECK(thrown<file_error>([&] { out.save("fourth", ones(3)); }) ==
          "[save] fourth: the .npz file was closed already");
    const npz_file f = load_npz(path);
    CHECK(f.names() == std::vector<std::string>{"first", "third"});
    CHECK(f.load<int>("first").to_host() == std::vector<int>{0, 1, 2, 3, 4});
    CHECK(is_made(f.load<float>("third")));
    CHECK(files_in(scratch.path()) == 1);
}

TEST_CASE("saving keeps a file's rights, and writes what a link points to") {
    const scratch_directory scratch;
    const fs::path path = scratch.path() / "x.npy", link = scratch.path() / "link.npy";
    save(path, ones(1));
    REQUIRE(chmod(path.c_str(), 0640) == 0);
    fs::create_symlink("x.npy", link);
    save(link, arange<int>(3));
    CHECK(fs::is_symlink(link));
    CHECK(load<int>(path).to_host() == std::vector<int>{0, 1, 2});
    CHECK(fs::status(path).permissions() == static_cast<fs::perms>(0640));
}
