// How generated sources are kept as files, each line once. A source is a list of paragraphs; those that declare what a
// kernel uses recur in many sources. They are kept in one file a target, `declarations`, each below a line `//// name`;
// texts that declare the same name are told apart by numbers. The file of a tree has a line `//// name, name` where its
// source has these paragraphs. A source equal to that of an earlier tree is kept as the line `//// all of NAME`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ingot::test {

struct named_source {
    std::string name;
    std::string source;
};

/// The contents of the files of one target, by their names without folder and ending.
using file_contents = std::map<std::string, std::string>;

constexpr std::string_view reference_mark = "//// ";
constexpr std::string_view whole_mark = "//// all of ";
constexpr std::string_view between_paragraphs = "\n\n";
constexpr std::string_view declarations_file = "declarations";
constexpr std::string_view declarations_title =
    "// The declarations that the sources in this folder share, each below its name.";

inline std::vector<std::string> parts_of(std::string_view text, std::string_view separator) {
    std::vector<std::string> parts;
    for (std::size_t end; (end = text.find(separator)) != text.npos; text.remove_prefix(end + separator.size()))
        parts.emplace_back(text.substr(0, end));
    parts.emplace_back(text);
    return parts;
}

inline std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
    std::string text;
    for (std::size_t i = 0; i < parts.size(); ++i) text.append(i == 0 ? "" : separator).append(parts[i]);
    return text;
}

/// The struct, function or macro that a paragraph declares first. Empty for the parts that stay in the tree's file: the
/// comment with the expression and the types below it, the arguments, the kernel.
inline std::string declared_name(const std::string& paragraph) {
    for (const char* const own : {"// ", "namespace ", "struct arguments"})
        if (paragraph.starts_with(own)) return "";
    if (paragraph.find("extern \"C\"") != paragraph.npos) return "";
    static const std::regex type(R"(^struct (?:alignas\(\w+\) )?(\w+))"), function(R"((\w+)(?:<[^()]*>)?\()");
    std::string macro;
    for (const std::string& line : parts_of(paragraph, "\n")) {
        std::smatch found;
        if (line.starts_with("#define ")) macro = line.substr(8, line.find_first_of(" (", 8) - 8);
        if (line.starts_with("//") || line.starts_with("#") || line.starts_with("typedef")) continue;
        if (std::regex_search(line, found, type) || std::regex_search(line, found, function)) return found[1];
    }
    return macro;
}

/// The declarations of several sources, in the order in which they appear first.
class declaration_list {
public:
    /// The name under which the text is kept; the list adds it if it is new.
    std::string name_of(const std::string& declared, const std::string& text) {
        std::vector<std::string>& texts = texts_[declared];
        const auto found = std::ranges::find(texts, text);
        const auto number = found - texts.begin() + 1;
        const std::string name = number == 1 ? declared : declared + '.' + std::to_string(number);
        if (found == texts.end()) {
            texts.push_back(text);
            content_.append(between_paragraphs).append(reference_mark).append(name + '\n' + text);
        }
        return name;
    }
    std::string content() const { return std::string(declarations_title) + content_ + '\n'; }

private:
    std::map<std::string, std::vector<std::string>> texts_;
    std::string content_;
};

/// Names in lines of at most 120 columns.
inline std::string reference_to(const std::vector<std::string>& names) {
    std::string text, line(reference_mark);
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0 && line.size() + 2 + names[i].size() > 119) {
            text += line + ",\n";
            line = reference_mark;
        } else if (i > 0) {
            line += ", ";
        }
        line += names[i];
    }
    return text + line;
}

/// The files that keep the sources of one target.
inline file_contents files_of(const std::vector<named_source>& sources) {
    file_contents files;
    declaration_list declarations;
    for (auto s = sources.begin(); s != sources.end(); ++s) {
        const auto equal = std::ranges::find(sources.begin(), s, s->source, &named_source::source);
        if (equal != s) {
            files[s->name] = std::string(whole_mark) + equal->name + '\n';
            continue;
        }
        std::vector<std::string> kept, names;
        for (const std::string& paragraph : parts_of(s->source, between_paragraphs)) {
            const std::string declared = declared_name(paragraph);
            if (!declared.empty()) {
                names.push_back(declarations.name_of(declared, paragraph));
                continue;
            }
            if (!names.empty()) kept.push_back(reference_to(std::exchange(names, {})));
            kept.push_back(paragraph);
        }
        files[s->name] = joined(kept, between_paragraphs);
    }
    files[std::string(declarations_file)] = declarations.content();
    return files;
}

inline std::string content_of(const file_contents& files, std::string_view name) {
    const auto found = files.find(std::string(name));
    return found == files.end() ? "" : found->second;
}

/// The texts of the declarations, by their names.
inline std::map<std::string, std::string> declarations_in(const file_contents& files) {
    std::map<std::string, std::string> texts;
    std::string content = content_of(files, declarations_file);
    if (content.ends_with('\n')) content.pop_back();
    for (const std::string& paragraph : parts_of(content, between_paragraphs)) {
        const std::size_t end = paragraph.find('\n');
        if (paragraph.starts_with(reference_mark) && end != paragraph.npos)
            texts[paragraph.substr(reference_mark.size(), end - reference_mark.size())] = paragraph.substr(end + 1);
    }
    return texts;
}

/// The source that a tree's file and the declarations make.
inline std::string source_in(const file_contents& files, const std::string& name) {
    std::string file = content_of(files, name);
    if (file.starts_with(whole_mark)) file = content_of(files, parts_of(file.substr(whole_mark.size()), "\n").front());
    const std::map<std::string, std::string> declarations = declarations_in(files);
    std::vector<std::string> paragraphs;
    for (const std::string& paragraph : parts_of(file, between_paragraphs)) {
        if (!paragraph.starts_with(reference_mark)) {
            paragraphs.push_back(paragraph);
            continue;
        }
        for (const std::string& line : parts_of(paragraph, ",\n"))
            for (const std::string& declared : parts_of(line.substr(reference_mark.size()), ", ")) {
                const auto found = declarations.find(declared);
                paragraphs.push_back(found == declarations.end() ? "there is no " + declared : found->second);
            }
    }
    return joined(paragraphs, between_paragraphs);
}

/// The first lines that differ, after two that do not. Empty where the texts are equal.
inline std::string first_difference(const std::string& kept, const std::string& printed) {
    if (kept == printed) return "";
    const std::vector<std::string> a = parts_of(kept, "\n"), b = parts_of(printed, "\n");
    const auto at = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
    std::string text = "line " + std::to_string(at + 1) + " differs (- kept, + printed):\n";
    const auto add = [&](const char* mark, const std::vector<std::string>& lines, std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < std::min(to, lines.size()); ++i) text += mark + lines[i] + '\n';
    };
    add("  ", a, at - std::min<std::size_t>(at, 2), at);
    add("- ", a, at, at + 5);
    add("+ ", b, at, at + 5);
    return text;
}

}  // namespace ingot::test
