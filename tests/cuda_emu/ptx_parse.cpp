/*
 * ptx_parse.cpp: a kernel's text becomes instructions whose operands are numbers of slots.
 */
#include "ptx_text.h"

#include <cctype>
#include <cstdlib>

namespace emu
{
/* Labels and names of variables and registers are made of these. */
static bool is_name(char c)
{
    return isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' || c == '.';
}

/* One kernel's text becomes its instructions, by the constructor. */
class Parser
{
  public:
    Parser(const KernelText &text, Kernel &into);

  private:
    /* Registers are numbered behind the constants, of which there are more until the end. */
    static constexpr int IS_REGISTER = 1 << 20;

    /* Declared as "%r<297>": prefix and count. */
    struct Range {
        std::string prefix;
        int first, count;
    };
    struct Scope {
        std::map<std::string, int> names;
        std::vector<Range> ranges;
    };
    /* An instruction whose operands are not numbered yet. */
    struct Raw {
        Instruction instruction;
        std::vector<int> operands;
        std::string label; /* of a branch */
        int guard;
    };

    void parse_parameters(const std::string &text);

    /* Braces open and close scopes where a statement could begin; elsewhere they hold a vector. */
    void parse_body(const std::string &text);

    /* A statement, or the label before one; returns where it ends. */
    size_t parse_statement(const std::string &text, size_t at);

    /* ".reg", ".shared" and what needs nothing. */
    void parse_directive(const std::string &statement);
    void declare_registers(const std::string &name);
    void declare_shared(const Variable &variable);

    /* "@!%p1 add.s32 %r1, %r2, 4". */
    void parse_instruction(const std::string &statement);
    void parse_operands(Raw &one, const std::string &name, const std::vector<std::string> &parts);

    /* "%r1", or "%r1|%p2". */
    void push_pair(Raw &one, const std::string &text);

    /* The slot of "%r1", "%tid.x", "0f3F800000" or a variable, whose address is a constant. */
    int operand(const std::string &text);

    /* "%rd1", "%rd1+16", "name+8" or "name": the base's slot, and what is added to a register. */
    int address(Raw &one, const std::string &text);

    /* Whether the text names one, and its slot. */
    static bool is_special(const std::string &text, int &slot);
    bool is_register(const std::string &text, int &slot) const;

    /* A number, or the address of a variable. */
    uint64_t value_of(const std::string &text) const;
    uint64_t address_of_variable(const std::string &text) const;

    /* Its slot. */
    int constant(uint64_t value);

    /* The function of an instruction, and what its name says of memory or of parts. */
    void choose(Raw &one, const std::string &name, const std::string &statement);
    static void choose_access(Instruction &it, const std::string &name, bool is_load);
    static void choose_parts(Instruction &it, const std::string &name,
                             const std::string &statement);

    /* At the end: the slots of registers, and what branches lead to. */
    void number_registers();
    void find_targets();

    const Module &module;
    Kernel &kernel;
    std::vector<Scope> scopes;                 /* the innermost last */
    std::map<std::string, uint64_t> variables; /* parameters and shared memory */
    std::map<uint64_t, int> constants;
    std::map<std::string, size_t> labels;
    std::vector<Raw> raw;
    int registers = 0;
};

Parser::Parser(const KernelText &text, Kernel &into) : module(*text.module), kernel(into)
{
    constants[1] = TRUE_SLOT;
    kernel.constants.assign(FIRST_FREE_SLOT, 0);
    kernel.constants[TRUE_SLOT] = 1;
    scopes.resize(1);
    parse_parameters(text.parameters);
    parse_body(text.body);
    number_registers();
    find_targets();
}

void Parser::parse_parameters(const std::string &text)
{
    size_t offset = 0;
    for (const std::string &one : split_at_commas(text)) {
        const Variable variable = parse_variable(one.substr(one.find(".param") + 6));
        offset = aligned(offset, variable.align);
        kernel.parameter_offsets.push_back(offset);
        kernel.parameter_sizes.push_back(variable.bytes);
        variables[variable.name] = offset;
        offset += variable.bytes;
    }
    kernel.parameters.resize(offset);
    for (auto &variable : variables)
        variable.second += reinterpret_cast<uint64_t>(kernel.parameters.data());
}

void Parser::parse_body(const std::string &text)
{
    for (size_t at = 0; (at = text.find_first_not_of(" \t\n;", at)) != std::string::npos;) {
        if (text[at] == '{') {
            scopes.emplace_back();
            at++;
        } else if (text[at] == '}') {
            scopes.pop_back();
            at++;
        } else {
            at = parse_statement(text, at);
        }
    }
}

size_t Parser::parse_statement(const std::string &text, size_t at)
{
    size_t end = at;
    while (is_name(text[end]))
        end++;
    if (text[end] == ':') {
        labels[text.substr(at, end - at)] = raw.size();
        return end + 1;
    }
    end = text.find(';', at);
    const std::string statement = text.substr(at, end - at);
    if (statement[0] == '.')
        parse_directive(statement);
    else
        parse_instruction(statement);
    return end;
}

void Parser::parse_directive(const std::string &statement)
{
    const std::vector<std::string> words = words_of(statement);
    if (words[0] == ".reg")
        declare_registers(words.at(2));
    else if (words[0] == ".shared")
        declare_shared(parse_variable(statement.substr(7)));
    else if (words[0] != ".pragma")
        die("PTX: the directive %s", statement.c_str());
}

void Parser::declare_registers(const std::string &name)
{
    const size_t bracket = name.find('<');
    const int count = bracket == std::string::npos ? 1 : atoi(name.c_str() + bracket + 1);
    if (bracket == std::string::npos)
        scopes.back().names[name] = registers;
    else
        scopes.back().ranges.push_back({name.substr(0, bracket), registers, count});
    registers += count;
}

void Parser::declare_shared(const Variable &variable)
{
    size_t &end = kernel.static_shared;
    end = aligned(end, variable.align);
    variables[variable.name] = end;
    end += variable.bytes;
    if (end > MAX_STATIC_SHARED)
        die("PTX: %zu bytes of static shared memory", end);
}

void Parser::parse_instruction(const std::string &statement)
{
    Raw one = {};
    size_t at = 0;
    one.guard = TRUE_SLOT;
    one.instruction.text = statement;
    one.instruction.expected = true;
    if (statement[0] == '@') {
        one.instruction.expected = statement[1] != '!';
        at = statement.find_first_of(" \t");
        one.guard = operand(trimmed(statement.substr(one.instruction.expected ? 1 : 2, at - 1)));
    }
    at = statement.find_first_not_of(" \t\n", at);
    const size_t end = std::min(statement.find_first_of(" \t\n", at), statement.size());
    const std::string name = statement.substr(at, end - at);
    parse_operands(one, name, split_at_commas(statement.substr(end)));
    choose(one, name, statement);
    raw.push_back(one);
}

void Parser::push_pair(Raw &one, const std::string &text)
{
    const size_t bar = text.find('|');
    one.operands.push_back(operand(text.substr(0, bar)));
    if (bar != std::string::npos)
        one.operands.push_back(operand(text.substr(bar + 1)));
}

void Parser::parse_operands(Raw &one, const std::string &name,
                            const std::vector<std::string> &parts)
{
    for (const std::string &part : parts) {
        if (name == "bra" || name == "bra.uni")
            one.label = part;
        else if (part[0] == '{')
            for (const std::string &element : split_at_commas(part.substr(1, part.size() - 2)))
                one.operands.push_back(operand(element));
        else if (part[0] == '[')
            one.operands.push_back(address(one, part.substr(1, part.size() - 2)));
        else
            push_pair(one, part);
    }
    if (one.operands.size() > MAX_OPERANDS)
        die("PTX: %zu operands of %s", one.operands.size(), name.c_str());
    one.instruction.count = uint8_t(one.operands.size());
}

int Parser::address(Raw &one, const std::string &text)
{
    int slot;
    const size_t plus = text.find('+');
    if (plus == std::string::npos || !is_register(text.substr(0, plus), slot))
        return operand(text);
    if (one.instruction.offset)
        die("PTX: two addresses with an offset: %s", text.c_str());
    one.instruction.offset = int32_t(strtol(text.c_str() + plus + 1, nullptr, 0));
    return slot;
}

bool Parser::is_special(const std::string &text, int &slot)
{
    static const std::map<std::string, int> bases = {
        {"%tid", TID}, {"%ntid", NTID}, {"%ctaid", CTAID}, {"%nctaid", NCTAID}};
    const size_t dot = text.find('.');
    const auto found = bases.find(text.substr(0, dot));
    slot = LANEID;
    if (text == "%laneid")
        return true;
    if (dot == std::string::npos || found == bases.end())
        return false;
    slot = found->second + (text[dot + 1] - 'x');
    return true;
}

int Parser::operand(const std::string &text)
{
    int slot;
    return is_special(text, slot) || is_register(text, slot) ? slot : constant(value_of(text));
}

bool Parser::is_register(const std::string &text, int &slot) const
{
    const size_t digits = text.find_last_not_of("0123456789") + 1;
    const int number = atoi(text.c_str() + digits);
    for (size_t i = scopes.size(); i-- > 0;) {
        const auto found = scopes[i].names.find(text);
        if (found != scopes[i].names.end()) {
            slot = IS_REGISTER + found->second;
            return true;
        }
        for (const Range &range : scopes[i].ranges) {
            slot = IS_REGISTER + range.first + number;
            if (number < range.count && range.prefix == text.substr(0, digits))
                return true;
        }
    }
    return false;
}

uint64_t Parser::value_of(const std::string &text) const
{
    char *end;
    uint64_t value;
    if (begins_with(text, "0f") || begins_with(text, "0d"))
        value = strtoull(text.c_str() + 2, &end, 16);
    else if (isdigit(static_cast<unsigned char>(text[0])))
        value = strtoull(text.c_str(), &end, 0);
    else if (text[0] == '-')
        value = uint64_t(strtoll(text.c_str(), &end, 0));
    else
        return address_of_variable(text);
    if (*end)
        die("PTX: the operand %s", text.c_str());
    return value;
}

uint64_t Parser::address_of_variable(const std::string &text) const
{
    const size_t plus = text.find('+');
    const std::string name = text.substr(0, plus);
    const uint64_t offset =
        plus == std::string::npos ? 0 : strtoull(text.c_str() + plus + 1, nullptr, 0);
    for (const auto *scope : {&variables, &module.symbols}) {
        const auto found = scope->find(name);
        if (found != scope->end())
            return found->second + offset;
    }
    die("PTX: no variable %s", name.c_str());
}

int Parser::constant(uint64_t value)
{
    const auto added = constants.emplace(value, int(kernel.constants.size()));
    if (added.second)
        kernel.constants.push_back(value);
    return added.first->second;
}

void Parser::choose(Raw &one, const std::string &name, const std::string &statement)
{
    Instruction &it = one.instruction;
    const bool is_load = begins_with(name, "ld."), is_store = begins_with(name, "st.");
    if (is_load || is_store)
        choose_access(it, name, is_load);
    else if (!one.label.empty())
        it.run = run_branch;
    else if (begins_with(name, "mov.b") && it.count == 3)
        choose_parts(it, name, statement);
    else
        it.run = find_instruction(name);
    if (!it.run)
        die("PTX: unknown instruction: %s", statement.c_str());
}

void Parser::choose_access(Instruction &it, const std::string &name, bool is_load)
{
    const std::string type = name.substr(name.rfind('.') + 1);
    it.run = is_load ? find_load(type) : find_store(type);
    it.in_shared = begins_with(name.substr(3), "shared.");
    it.watched = !begins_with(name.substr(3), "param.");
    it.count--; /* but for the address */
}

void Parser::choose_parts(Instruction &it, const std::string &name, const std::string &statement)
{
    const bool unpacks = statement.find('{') < statement.find(',');
    it.run = name == "mov.b64" ? (unpacks ? run_unpack_64 : run_pack_64)
                               : (unpacks ? run_unpack_32 : run_pack_32);
}

void Parser::number_registers()
{
    const int first = int(kernel.constants.size());
    const auto number = [&](int slot) {
        return Slot(slot >= IS_REGISTER ? slot - IS_REGISTER + first : slot);
    };
    kernel.slots = size_t(first + registers);
    if (kernel.slots > UINT16_MAX)
        die("PTX: %zu registers and constants", kernel.slots);
    for (Raw &one : raw) {
        for (size_t i = 0; i < one.operands.size(); i++)
            one.instruction.operands[i] = number(one.operands[i]);
        one.instruction.guard = number(one.guard);
        kernel.code.push_back(one.instruction);
    }
}

void Parser::find_targets()
{
    for (size_t i = 0; i < raw.size(); i++) {
        if (raw[i].label.empty())
            continue;
        const auto found = labels.find(raw[i].label);
        if (found == labels.end() || found->second >= raw.size())
            die("PTX: no label %s", raw[i].label.c_str());
        kernel.code[i].target = &kernel.code[found->second];
    }
}

void parse_kernel(const KernelText &text, Kernel &kernel)
{
    Parser(text, kernel);
}
} // namespace emu
