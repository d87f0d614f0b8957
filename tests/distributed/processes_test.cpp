// Ranks that are processes, connected by TCP: what they compute, and what the others say of one that fails.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ingot/ingot.hpp>

namespace {

/// Whether nobody listens at a port of this machine.
bool is_free(int port) {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<std::uint16_t>(port));
    const bool bound = ::bind(socket, reinterpret_cast<const sockaddr*>(&at), sizeof(at)) == 0;
    ::close(socket);
    return bound;
}

std::vector<std::string> run_ranks(int ranks, const std::string& what) {
    // Below the ports that connections of other programs get.
    static int port = 16000 + static_cast<int>(::getpid() % 4000) * 4;
    do ++port;
    while (!is_free(port));
    std::vector<std::FILE*> pipes;
    for (int r = 0; r < ranks; ++r)
        pipes.push_back(::popen(
            ("INGOT_RANKS=" + std::to_string(ranks) + " INGOT_RANK=" + std::to_string(r) +
             " INGOT_HOST=127.0.0.1:" + std::to_string(port) + " " INGOT_TEST_PROGRAMS "/ranks " + what + " 2>&1")
                .c_str(),
            "r"));
    std::vector<std::string> texts;
    for (std::FILE* p : pipes) {
        REQUIRE(p != nullptr);
        std::string& text = texts.emplace_back();
        for (int c; (c = std::fgetc(p)) != EOF;) text += static_cast<char>(c);
        ::pclose(p);
    }
    return texts;
}

/// The text without its last line, and that line's seconds.
double take_seconds(std::string& text) {
    const std::size_t last = text.find_last_of('\n', text.size() - 2);
    const double seconds = std::stod(text.substr(last == text.npos ? 0 : last + 1));
    text.resize(last == text.npos ? 0 : last + 1);
    return seconds;
}

}  // namespace

TEST_CASE("processes compute what one does, and equal numbers on all ranks") {
    std::vector<std::string> one = run_ranks(1, "computes"), four = run_ranks(4, "computes");
    for (std::string& text : one) take_seconds(text);
    for (std::string& text : four) take_seconds(text);
    const auto first_line = [](const std::string& text) { return text.substr(0, text.find('\n')); };
    CHECK(first_line(one[0]) == "3540 59 1");
    for (const std::string& text : four) {
        CHECK(first_line(text) == first_line(one[0]));
        CHECK(text == four[0]);
    }
}

TEST_CASE("the others throw when a rank fails, and name it") {
    const auto all_say = [](const std::string& what, const std::string& wanted, double most_seconds) {
        std::vector<std::string> texts = run_ranks(3, what);
        for (int r = 0; r < 2; ++r) {
            std::string& text = texts[static_cast<std::size_t>(r)];
            CAPTURE(text);
            CHECK(take_seconds(text) < most_seconds);
            CHECK(text.find(wanted) != text.npos);
        }
    };
    all_say("killed", "rank 2 has ended", 10);
    all_say("throws", "rank 2 failed: an exception ended its session", 8);
    all_say("differs", "every rank must evaluate the same statements in the same order", 8);
}

TEST_CASE("a rank that is late is no failure") {
    for (std::string& text : run_ranks(3, "late")) {
        take_seconds(text);
        CHECK(text == "done\n");
    }
}
