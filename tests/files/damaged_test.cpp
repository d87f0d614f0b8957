// Damaged files: whatever the bytes, reading them gives the right answer or a typed error, and allocates no more than
// they justify. Nothing here wants more of Ingot than runtime/files, so that these few files can be built alone, as for
// a sanitizer:
//   g++ -std=c++20 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -ffunction-sections -Wl,--gc-sections
//       -I. -Iinclude -DDOCTEST_CONFIG_IMPLEMENT_WITH_MAIN '-DINGOT_TEST_SOURCES="tests"' tests/files/damaged_test.cpp
//       tests/files/largest_allocation.cpp runtime/{dynamic_library,environment,shape,warning}.cpp
//       runtime/files/{byte_source,crc32,elements,npy_header,output_file,zip_reader,zip_writer,zlib}.cpp
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <ingot/core/error.hpp>

#include "runtime/files/crc32.hpp"
#include "runtime/files/elements.hpp"
#include "runtime/files/npy_header.hpp"
#include "runtime/files/output_file.hpp"
#include "runtime/files/zip_reader.hpp"
#include "runtime/files/zip_writer.hpp"
#include "tests/files/largest_allocation.hpp"

using namespace ingot;
using namespace ingot::runtime;
using ingot::test::largest_allocation;

namespace {

namespace fs = std::filesystem;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

/// A file in the temporary folder, gone in the end.
class scratch_file {
public:
    scratch_file() : path_(fs::temp_directory_path() / ("ingot_damaged_" + std::to_string(getpid()))) {}
    scratch_file(const scratch_file&) = delete;
    ~scratch_file() {
        std::error_code ignored;
        fs::remove(path_, ignored);
    }
    const std::string& path() const { return path_; }
    std::string content() const {
        std::ifstream in(path_, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }

private:
    std::string path_;
};

class damage {
public:
    explicit damage(unsigned seed) : random_(seed) {}

    std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }

    std::string random_bytes(std::size_t n) {
        std::string text(n, '\0');
        for (char& c : text) c = static_cast<char>(below(256));
        return text;
    }
    /// The file after one to three changes.
    std::string of(std::string file) {
        for (std::size_t changes = 1 + below(3); changes > 0; --changes) change(file);
        return file;
    }

private:
    void change(std::string& file) {
        if (file.empty()) return;
        const std::size_t at = below(file.size()), rest = file.size() - at;
        const std::size_t kind = below(14);
        if (kind >= 12) {
            file[at] = static_cast<char>(file[at] ^ 1 << below(8));
        } else if (kind >= 10) {
            file[at] = static_cast<char>(below(256));
        } else if (kind >= 8) {  // numbers at an edge
            const char edges[] = {'\0', '\xff', '\x7f', '\x80', '\1'};
            std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(at), std::min(rest, std::size_t{1} << below(4)),
                        edges[below(5)]);
        } else if (kind == 0) {
            file.resize(at);
        } else if (kind == 1) {
            file += random_bytes(1 + below(40));
        } else if (kind == 2) {
            file.erase(at, 1 + below(20));
        } else if (kind == 3) {
            file.insert(at, random_bytes(1 + below(20)));
        } else if (kind == 4) {  // a piece once more, elsewhere
            file.insert(at, file.substr(below(file.size()), 1 + below(60)));
        } else {  // a change in the header
            const std::string signs = "0123456789L,:'\"(){}[] \n<>=|-fuicbTF";
            const std::size_t sign = file.find_first_of(signs, at);
            if (sign != file.npos) file[sign] = signs[below(signs.size())];
        }
    }

    std::mt19937 random_;
};

/// The content of a .npy as NumPy reports it: a line of text, and the elements in the file's order.
struct answer {
    std::string line;
    std::vector<std::byte> elements;
};

answer read_array(byte_stream& stream) {
    const npy_contents file = read_npy_header(stream);
    answer a;
    a.elements.resize(static_cast<std::size_t>(file.bytes));
    read_elements(stream, file, a.elements);
    CHECK(stream.remaining() == 0);
    std::ostringstream line;
    line << name(file.type) << ' ' << file.fortran_order << ' ' << file.shape.count();
    for (const index_t extent : file.shape) line << ' ' << extent;
    a.line = line.str();
    return a;
}

/// The result of f; empty where f throws an error that names the file. Any other exception is a failure.
template <class F>
void typed_error_or(const std::string& file, int& errors, F&& f) {
    const auto told = [&](const error& e) {
        ++errors;
        CHECK_MESSAGE(std::string_view(e.what()).starts_with("[test] memory"), e.what());
    };
    largest_allocation();
    try {
        f();
    } catch (const file_error& e) {
        told(e);
    } catch (const dtype_error& e) {
        told(e);
    }
    constexpr std::size_t out_of_one_byte = 1032, buffers = 600'000;
    const std::size_t largest = largest_allocation();
    CHECK_MESSAGE(largest <= out_of_one_byte * file.size() + buffers, largest, " bytes for ", file.size());
}

std::string npy_of(dtype type, const std::vector<index_t>& shape, damage& random) {
    std::size_t bytes = detail::size_of(type);
    for (const index_t extent : shape) bytes *= static_cast<std::size_t>(extent);
    return npy_header_of("", type, shape) + random.random_bytes(bytes);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != text.npos);
    return text.replace(at, from.size(), to);
}

std::vector<std::string> sound_arrays(damage& random) {
    std::vector<std::string> files;
    for (const dtype type : {dtype::b1, dtype::i2, dtype::u8, dtype::f2, dtype::f4, dtype::c16})
        for (const std::vector<index_t>& shape : {std::vector<index_t>{}, {3}, {60, 2}, {0, 5}, {50, 1, 3}})
            files.push_back(npy_of(type, shape, random));
    files.push_back(replaced(npy_of(dtype::f4, {3, 2}, random), "False", "True "));
    files.push_back(replaced(npy_of(dtype::c8, {3}, random), "<", ">"));
    files.push_back(replaced(npy_of(dtype::i4, {3}, random), std::string("\1\0v\0", 4), std::string("\2\0v\0\0\0", 6)));
    files.push_back(npy_of(dtype::f8, {11, 13}, random));
    return files;
}

/// Archives of these arrays: stored or deflated, with numbers of 32 or 64 bits.
std::vector<std::string> sound_archives(const std::vector<std::string>& arrays, damage& random) {
    std::vector<std::string> archives;
    for (int i = 0; i < 24; ++i) {
        const scratch_file scratch;
        output_file file("test", scratch.path());
        zip_writer archive(file, i % 2 == 1, i % 4 < 2 ? zip64_limit : 1);
        for (std::size_t k = 1 + random.below(3); k > 0; --k) {
            archive.begin_entry("array" + std::to_string(k) + ".npy");
            archive.append(bytes_of(arrays[random.below(arrays.size())]));
            archive.end_entry();
        }
        archive.finish();
        file.publish();
        archives.push_back(scratch.content());
    }
    return archives;
}

int how_many() { return std::getenv("INGOT_TEST_ALL") ? 100'000 : 5'000; }

unsigned seed() {
    return std::getenv("INGOT_TEST_SEED") ? static_cast<unsigned>(std::atoi(std::getenv("INGOT_TEST_SEED"))) : 1;
}

/// Asks NumPy about files that were read: whether it reads the same of them.
class second_opinion {
public:
    void add(const std::string& file, const answer& a) {
        cases_ << file.size() << ' ' << a.elements.size() << ' ' << a.line << '\n' << file;
        cases_.write(reinterpret_cast<const char*>(a.elements.data()), static_cast<std::streamsize>(a.elements.size()));
        ++count_;
    }
    void ask(const std::string& python) const {
        const scratch_file scratch;
        std::ofstream(scratch.path(), std::ios::binary) << cases_.str();
        std::FILE* const pipe = popen(
            ("'" + python + "' '" INGOT_TEST_SOURCES "/oracle/damaged_files.py' '" + scratch.path() + "'").c_str(),
            "r");
        REQUIRE(pipe != nullptr);
        std::string said;
        for (int c; (c = std::fgetc(pipe)) != EOF;) said += static_cast<char>(c);
        CHECK(pclose(pipe) == 0);
        CHECK(said == std::to_string(count_) + '\n');
    }

private:
    std::ostringstream cases_;
    int count_ = 0;
};

}  // namespace

TEST_CASE("a damaged .npy file is a typed error, or holds what NumPy reads in it") {
    damage random(seed());
    const std::vector<std::string> sound = sound_arrays(random);
    second_opinion numpy;
    int errors = 0, answers = 0;
    for (int i = 0; i < how_many(); ++i) {
        const std::string file = i < static_cast<int>(sound.size()) ? sound[static_cast<std::size_t>(i)]
                                                                    : random.of(sound[random.below(sound.size())]);
        std::optional<answer> read;
        typed_error_or(file, errors, [&] {
            const memory_source source("[test] memory", bytes_of(file));
            source_stream stream(source);
            read = read_array(stream);
        });
        if (!read) continue;
        numpy.add(file, *read);
        ++answers;
    }
    CHECK(answers > how_many() / 20);
    CHECK(errors > how_many() / 2);
    MESSAGE(errors, " errors, ", answers, " answers");
    if (const char* const python = std::getenv("INGOT_PYTHON")) numpy.ask(python);
}

TEST_CASE("a damaged .npz file is a typed error, or holds the arrays that were written") {
    damage random(seed() + 1);
    const std::vector<std::string> arrays = sound_arrays(random);
    const std::vector<std::string> sound = sound_archives(arrays, random);
    std::set<std::string> known;
    for (const std::string& array : arrays) {
        const memory_source source("[test] memory", bytes_of(array));
        source_stream stream(source);
        const answer a = read_array(stream);
        known.insert(a.line + std::string(reinterpret_cast<const char*>(a.elements.data()), a.elements.size()));
    }
    int errors = 0, answers = 0;
    for (int i = 0; i < how_many(); ++i) {
        const std::string file = i < static_cast<int>(sound.size()) ? sound[static_cast<std::size_t>(i)]
                                                                    : random.of(sound[random.below(sound.size())]);
        std::vector<zip_entry> entries;
        std::unique_ptr<zip_reader> archive;
        typed_error_or(file, errors, [&] {
            archive = std::make_unique<zip_reader>(std::make_unique<memory_source>("[test] memory", bytes_of(file)));
            entries = archive->entries();
        });
        for (const zip_entry& entry : entries)
            typed_error_or(file, errors, [&] {
                const answer a = read_array(*archive->open(entry, "[test] memory"));
                CHECK(known.count(a.line + std::string(reinterpret_cast<const char*>(a.elements.data()),
                                                       a.elements.size())) == 1);
                ++answers;
            });
    }
    CHECK(answers > how_many() / 20);
    CHECK(errors > how_many() / 2);
    MESSAGE(errors, " errors, ", answers, " answers");
}

TEST_CASE("an archive cannot claim more than deflate can hold") {
    damage random(1);
    const scratch_file scratch;
    output_file file("test", scratch.path());
    zip_writer archive(file, true);
    archive.begin_entry("zeros.npy");
    const std::string array =
        npy_header_of("", dtype::u1, std::vector<index_t>{1'000'000}) + std::string(1'000'000, '\0');
    archive.append(bytes_of(array));
    archive.end_entry();
    archive.finish();
    file.publish();
    std::string bytes = scratch.content();
    CHECK(bytes.size() < 2000);  // as much as deflate can
    const auto read = [&] {
        const zip_reader reader(std::make_unique<memory_source>("[test] memory", bytes_of(bytes)));
        return read_array(*reader.open(reader.entries()[0], "[test] memory")).elements.size();
    };
    CHECK(read() == 1'000'000);
    bytes[bytes.find("PK\1\2") + 27] = '\x7f';  // the highest byte of the size
    largest_allocation();
    CHECK_THROWS_AS(read(), file_error);
    CHECK(largest_allocation() < 10'000);
}

TEST_CASE("the checksum is that of IEEE 802.3, of whatever pieces") {
    CHECK(crc32(bytes_of("123456789")) == 0xcbf43926u);
    CHECK(crc32({}) == 0);
    damage random(2);
    const std::string text = random.random_bytes(100);
    for (std::size_t cut = 0; cut <= text.size(); ++cut)
        CHECK(crc32(bytes_of(text).subspan(cut), crc32(bytes_of(text).first(cut))) == crc32(bytes_of(text)));
}
