/* ptx_text.cpp: pieces of PTX's text. */
#include "ptx_text.h"

#include <cstdlib>

namespace emu
{
std::string trimmed(const std::string &text)
{
    const size_t first = text.find_first_not_of(" \t\n"), last = text.find_last_not_of(" \t\n");
    return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

bool begins_with(const std::string &text, const std::string &with)
{
    return text.compare(0, with.size(), with) == 0;
}

std::vector<std::string> words_of(const std::string &text)
{
    std::vector<std::string> words;
    for (size_t at = 0; (at = text.find_first_not_of(" \t\n", at)) != std::string::npos;) {
        const size_t end = std::min(text.find_first_of(" \t\n", at), text.size());
        words.push_back(text.substr(at, end - at));
        at = end;
    }
    return words;
}

std::vector<std::string> split_at_commas(const std::string &text)
{
    std::vector<std::string> parts;
    std::string part;
    int depth = 0;
    for (const char c : text) {
        depth += c == '{' || c == '[' || c == '(' ? 1 : c == '}' || c == ']' || c == ')' ? -1 : 0;
        if (c == ',' && depth == 0) {
            parts.push_back(trimmed(part));
            part.clear();
        } else {
            part += c;
        }
    }
    if (!trimmed(part).empty())
        parts.push_back(trimmed(part));
    return parts;
}

static size_t bytes_of_type(const std::string &type)
{
    const int bits = type.size() > 2 ? atoi(type.c_str() + 2) : 0;
    if (type[0] != '.' || !strchr("bsuf", type[1]) || bits < 8)
        die("PTX: the type %s", type.c_str());
    return size_t(bits) / 8;
}

Variable parse_variable(const std::string &text)
{
    std::vector<std::string> words = words_of(text);
    size_t align = 0, at = 0;
    if (words.at(0) == ".align") {
        align = size_t(atoi(words.at(1).c_str()));
        at = 2;
    }
    const size_t element = bytes_of_type(words.at(at));
    const std::string &name = words.back();
    const size_t bracket = name.find('[');
    const size_t count =
        bracket == std::string::npos ? 1 : size_t(atoi(name.c_str() + bracket + 1));
    return {name.substr(0, bracket), align ? align : element, element * count};
}
} // namespace emu
