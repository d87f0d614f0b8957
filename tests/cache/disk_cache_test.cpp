// The files of the disk cache: which are trusted, which are replaced, and which failures only cost speed.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/cache/fixture.hpp"

using namespace ingot::runtime;
using namespace ingot::test;

namespace fs = std::filesystem;

namespace {

const cache_key key("identity of a kernel");
const auto code = bytes_of(10'000, 7);

/// Changes the entry's file, then asks the cache for it and publishes it again.
template <typename Damage>
void check_miss_then_replaced(Damage damage) {
    const scratch_directory scratch;
    auto cache = cache_in(scratch.path());
    cache.publish(key, code);
    REQUIRE(cache.find(key) == code);
    damage(only_entry(scratch.path()));
    CHECK_FALSE(cache.find(key));
    cache.publish(key, code);
    CHECK(cache.find(key) == code);
}

void age(const fs::path& file, long seconds) {
    const timespec then{time(nullptr) - seconds, 0};
    const timespec times[] = {then, then};
    utimensat(AT_FDCWD, file.c_str(), times, 0);
}

std::size_t entries_in(const fs::path& directory) {
    std::size_t count = 0;
    for (const auto& item : fs::directory_iterator(directory)) count += item.path().extension() == ".kernel";
    return count;
}

}  // namespace

TEST_CASE("one file a kernel, in a directory of mode 0700") {
    const scratch_directory scratch;
    const fs::path directory = scratch.path() / "deep" / "cache";
    auto cache = cache_in(directory);
    CHECK(fs::status(directory).permissions() == fs::perms::owner_all);
    for (int i = 0; i < 5; ++i) cache.publish(cache_key("kernel " + std::to_string(i)), bytes_of(100, i));
    CHECK(entries_in(directory) == 5);
    for (int i = 0; i < 5; ++i) CHECK(cache.find(cache_key("kernel " + std::to_string(i))) == bytes_of(100, i));
    CHECK_FALSE(cache.find(cache_key("kernel 5")));
}

TEST_CASE("the identity is compared in full when a file is loaded, not its hash alone") {
    const scratch_directory scratch;
    auto cache = cache_in(scratch.path());
    cache.publish(key, code);
    cache_key same_name("identity of a kernem");
    same_name.name = key.name;
    CHECK_FALSE(cache.find(same_name));
}

TEST_CASE("a corrupt file is replaced: any one changed byte is noticed") {
    for (const long at : {0L, 9L, 17L, 25L, 40L, 50L, 70L, 5000L}) {
        check_miss_then_replaced([&](const fs::path& file) {
            std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
            stream.seekg(at);
            const int old = stream.get();
            stream.seekp(at);
            stream.put(static_cast<char>(old ^ 0x10));
        });
    }
}

TEST_CASE("a truncated file is replaced, at whatever byte it ends") {
    for (const std::uintmax_t size : {0u, 1u, 47u, 48u, 60u, 1000u}) {
        check_miss_then_replaced([&](const fs::path& file) { fs::resize_file(file, size); });
    }
}

TEST_CASE("a file whose header claims sizes that are not there is replaced") {
    check_miss_then_replaced([](const fs::path& file) {
        fs::resize_file(file, 50);  // shorter than header and identity
        const std::uint64_t code_size = std::uint64_t{50} - 48 - key.identity.size();
        std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
        stream.seekp(24);
        stream.write(reinterpret_cast<const char*>(&code_size), sizeof code_size);
    });
}

TEST_CASE("a foreign file in an entry's place is replaced") {
    check_miss_then_replaced([](const fs::path& file) { std::ofstream(file) << std::string(20'000, 'x'); });
    check_miss_then_replaced([](const fs::path& file) {
        fs::remove(file);
        mkfifo(file.c_str(), 0600);
    });
    check_miss_then_replaced([](const fs::path& file) {
        fs::rename(file, file.parent_path() / "elsewhere");
        fs::create_symlink("elsewhere", file);
    });
}

TEST_CASE("a directory in an entry's place only costs speed") {
    const scratch_directory scratch;
    auto cache = cache_in(scratch.path());
    cache.publish(key, code);
    const fs::path file = only_entry(scratch.path());
    fs::remove(file);
    fs::create_directory(file);
    CHECK_FALSE(cache.find(key));
    cache.publish(key, code);
    CHECK_FALSE(cache.find(key));
}

TEST_CASE("a symlink in the cache's place is refused") {
    const scratch_directory scratch;
    fs::create_directory(scratch.path() / "real");
    fs::create_directory_symlink("real", scratch.path() / "link");
    CHECK_FALSE(disk_cache::open(scratch.path() / "link", 1000));
    CHECK_FALSE(disk_cache::open(scratch.path() / "link" / "", 1000));
    CHECK(disk_cache::open(scratch.path() / "real", 1000));
}

TEST_CASE("a file in the cache's place is refused") {
    const scratch_directory scratch;
    std::ofstream(scratch.path() / "cache") << "mine";
    CHECK_FALSE(disk_cache::open(scratch.path() / "cache", 1000));
    CHECK_FALSE(disk_cache::open(scratch.path() / "cache" / "below", 1000));
}

TEST_CASE("a directory that others can write, or own, is refused") {
    const scratch_directory scratch;
    fs::permissions(scratch.path(), fs::perms::all);
    CHECK_FALSE(disk_cache::open(scratch.path(), 1000));
    fs::permissions(scratch.path(), fs::perms::owner_all);
    CHECK(disk_cache::open(scratch.path(), 1000));
    if (geteuid() == 0) {
        REQUIRE(chown(scratch.path().c_str(), 12345, 12345) == 0);
        CHECK_FALSE(disk_cache::open(scratch.path(), 1000));
    }
}

TEST_CASE("an unwritable directory still serves what is in it") {
    const scratch_directory scratch;
    cache_in(scratch.path()).publish(key, code);
    const pid_t child = start_child([&] {
        // Root may write anywhere, so the test becomes another user, who owns the directory.
        if (geteuid() == 0) {
            const fs::path file = only_entry(scratch.path());
            if (chown(file.c_str(), 12345, 12345) != 0 || chown(scratch.path().c_str(), 12345, 12345) != 0) return 10;
        }
        fs::permissions(scratch.path(), fs::perms::owner_read | fs::perms::owner_exec);
        if (geteuid() == 0 && setuid(12345) != 0) return 11;
        auto cache = cache_in(scratch.path());
        if (cache.find(key) != code) return 12;
        const cache_key other("another");
        const kernel_lock lock = cache.lock(other);
        cache.publish(other, code);
        return cache.find(other) ? 13 : 0;
    });
    CHECK(exit_status(child) == 0);
    fs::permissions(scratch.path(), fs::perms::owner_all);
}

TEST_CASE("a full disk only costs speed, and leaves no part of a file") {
    const scratch_directory scratch;
    const auto large = bytes_of(200'000, 1);
    if (geteuid() == 0 && mount("ingot", scratch.path().c_str(), "tmpfs", 0, "size=64k,mode=0700") == 0) {
        {
            auto cache = cache_in(scratch.path());
            cache.publish(key, code);
            cache.publish(cache_key("large"), large);
            CHECK_FALSE(cache.find(cache_key("large")));
            CHECK(cache.find(key) == code);
            CHECK(entries_in(scratch.path()) == 1);
            for (const auto& item : fs::directory_iterator(scratch.path())) {
                CHECK_FALSE(item.path().filename().string().starts_with("tmp."));
            }
        }
        umount2(scratch.path().c_str(), MNT_DETACH);
    }
}

TEST_CASE("a limit on the size of files only costs speed") {
    const scratch_directory scratch;
    const pid_t child = start_child([&] {
        const rlimit limit{50'000, 50'000};
        setrlimit(RLIMIT_FSIZE, &limit);
        auto cache = cache_in(scratch.path());
        cache.publish(key, bytes_of(200'000, 1));
        if (cache.find(key)) return 1;
        cache.publish(key, code);
        return cache.find(key) == code ? 0 : 2;
    });
    CHECK(exit_status(child) == 0);
}

TEST_CASE("kill -9 while publishing leaves a good file or none, and what it leaves is swept") {
    const scratch_directory scratch;
    const auto payload = bytes_of(3'000'000, 3);
    int good = 0, none = 0;
    double delay_us = 1000;  // moves towards the time that publishing takes, so that the kills fall around its end
    for (int round = 0; round < 40; ++round) {
        const cache_key mine("round " + std::to_string(round));
        int ready[2];
        REQUIRE(pipe(ready) == 0);
        const pid_t child = start_child([&] {
            auto cache = cache_in(scratch.path());
            const char go = 'g';
            if (::write(ready[1], &go, 1) != 1) return 1;
            cache.publish(mine, payload);
            pause();
            return 0;
        });
        char go = 0;
        REQUIRE(::read(ready[0], &go, 1) == 1);
        usleep(static_cast<useconds_t>(delay_us));
        kill(child, SIGKILL);
        CHECK(exit_status(child) == -SIGKILL);
        ::close(ready[0]);
        ::close(ready[1]);

        const auto found = cache_in(scratch.path()).find(mine);
        const bool there = fs::exists(scratch.path() / (to_hex(mine.name) + ".kernel"));
        CHECK(found.has_value() == there);
        if (found) CHECK(*found == payload);
        ++(found ? good : none);
        delay_us *= found ? 0.7 : 1.35;
    }
    MESSAGE(good, " files published, ", none, " killed before");
    CHECK(none > 0);
    CHECK(good > 0);

    for (const auto& item : fs::directory_iterator(scratch.path())) age(item.path(), 3600);
    cache_in(scratch.path()).evict();
    for (const auto& item : fs::directory_iterator(scratch.path())) {
        CHECK_FALSE(item.path().filename().string().starts_with("tmp."));
    }
    CHECK(entries_in(scratch.path()) == static_cast<std::size_t>(good));
}

TEST_CASE("least recently used files go past the size cap") {
    const scratch_directory scratch;
    auto cache = cache_in(scratch.path());
    const auto named = [](int i) { return cache_key("kernel " + std::to_string(i)); };
    for (int i = 0; i < 10; ++i) {
        cache.publish(named(i), bytes_of(100'000, i));
        age(scratch.path() / (to_hex(named(i).name) + ".kernel"), 1000 - i);
    }
    REQUIRE(cache.find(named(0)));  // used now: the youngest
    cache_in(scratch.path(), 600'000).evict();
    CHECK(cache.find(named(0)));
    CHECK(cache.find(named(9)));
    CHECK_FALSE(cache.find(named(1)));
    CHECK_FALSE(cache.find(named(5)));
    CHECK(entries_in(scratch.path()) == 4);
}

TEST_CASE("publishing alone keeps the cache near its cap") {
    const scratch_directory scratch;
    auto cache = cache_in(scratch.path(), 1'000'000);
    for (int i = 0; i < 100; ++i) cache.publish(cache_key("kernel " + std::to_string(i)), bytes_of(50'000, i));
    std::uintmax_t total = 0;
    for (const auto& item : fs::directory_iterator(scratch.path())) total += item.file_size();
    CHECK(total < 1'300'000);
    CHECK(total > 500'000);
}

TEST_CASE("eviction leaves files alone that are not the cache's") {
    const scratch_directory scratch;
    std::ofstream(scratch.path() / "letter.txt") << std::string(100'000, 'a');
    auto cache = cache_in(scratch.path(), 1000);
    cache.publish(key, code);
    cache.evict();
    CHECK(fs::exists(scratch.path() / "letter.txt"));
    CHECK_FALSE(cache.find(key));
}

TEST_CASE("a cap of zero is no disk cache") {
    const scratch_directory scratch;
    CHECK_FALSE(disk_cache::open(scratch.path() / "cache", 0));
    CHECK_FALSE(fs::exists(scratch.path() / "cache"));
}

TEST_CASE("a kernel's lock excludes, is apart from other kernels', and ends with its owner's death") {
    const scratch_directory scratch;
    auto cache = cache_in(scratch.path());
    int held[2];
    REQUIRE(pipe(held) == 0);
    const pid_t child = start_child([&] {
        const kernel_lock lock = cache_in(scratch.path()).lock(key);
        const char go = 'g';
        if (!lock || ::write(held[1], &go, 1) != 1) return 1;
        pause();
        return 0;
    });
    char go = 0;
    REQUIRE(::read(held[0], &go, 1) == 1);
    CHECK_FALSE(cache.lock(key, 0.05));
    CHECK(cache.lock(cache_key("another"), 0.05));
    kill(child, SIGKILL);
    exit_status(child);
    CHECK(cache.lock(key, 5));
    ::close(held[0]);
    ::close(held[1]);
}

TEST_CASE("a lock ends with its handle, though a child of fork has the descriptor too") {
    const scratch_directory scratch;
    auto cache = cache_in(scratch.path());
    int release[2];
    REQUIRE(pipe(release) == 0);
    std::optional<kernel_lock> lock = cache.lock(key);
    const pid_t child = start_child([&] {
        char go = 0;
        return ::read(release[0], &go, 1) == 1 && cache.lock(key, 0.05) ? 0 : 1;
    });
    CHECK_FALSE(cache.lock(key, 0.01));
    lock.reset();
    CHECK(cache.lock(key, 0.05));
    CHECK(::write(release[1], "", 1) == 1);
    CHECK(exit_status(child) == 0);
    ::close(release[0]);
    ::close(release[1]);
}
