// SPDX-License-Identifier: Apache-2.0
#include "values.h"

#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <fstream>
#include <functional>
#include <optional>
#include <stdexcept>

namespace operators {
namespace {

using c10::TypeKind;
using OptionalTensor = decltype(c10::IValue().toOptionalTensorVector())::value_type;

/// Splits at blanks that are in no bracket.
std::vector<std::string> words(std::string_view text, char separator = ' ') {
    std::vector<std::string> all;
    std::string word;
    int depth = 0;
    for (const char c : text) {
        depth += c == '[' || c == '{' || c == '(';
        depth -= c == ']' || c == '}' || c == ')';
        if (c == separator && depth == 0) {
            if (!word.empty()) {
                all.push_back(std::exchange(word, {}));
            }
        } else {
            word += c;
        }
    }
    if (!word.empty()) {
        all.push_back(word);
    }
    return all;
}

[[noreturn]] void misfit(const std::string& token, const std::string& type) {
    throw std::invalid_argument("`" + token + "` is no " + type);
}

std::string_view inside(std::string_view token) { return token.substr(1, token.size() - 2); }

const std::map<std::string, at::ScalarType, std::less<>> dtypes = {
    {"float", at::kFloat}, {"double", at::kDouble}, {"int", at::kInt},   {"long", at::kLong},
    {"bool", at::kBool},   {"half", at::kHalf},     {"byte", at::kByte}, {"complex", at::kComplexFloat}};

class Maker {
public:
    at::Tensor tensor(const std::string& token) {
        const auto open = token.find('(');
        const auto close = token.find(')');
        if (open != 1 || close == std::string::npos) {
            misfit(token, "tensor");
        }
        std::vector<std::int64_t> shape;
        for (const auto& length : words(std::string_view(token).substr(open + 1, close - open - 1), ',')) {
            shape.push_back(std::stoll(length));
        }
        std::int64_t limit = 3;
        std::int64_t least = 0;
        if (close + 1 < token.size() && token[close + 1] == '<') {
            std::size_t used = 0;
            limit = std::stoll(token.substr(close + 2), &used);
            const auto plus = close + 2 + used;
            least = plus < token.size() ? std::stoll(token.substr(plus)) : 0;
        }
        const auto normal = [&](at::ScalarType type) { return at::randn(shape, generator_, at::TensorOptions(type)); };
        const auto between = [&](at::ScalarType type) {
            return at::randint(least, least + limit, shape, generator_, at::TensorOptions(at::kLong)).to(type);
        };
        switch (token[0]) {
        case 'f': return normal(at::kFloat);
        case 'd': return normal(at::kDouble);
        case 'c': return normal(at::kComplexFloat);
        case 'h': return normal(at::kHalf);
        case 'p': return at::rand(shape, generator_, at::TensorOptions(at::kFloat)) * 0.8 + 0.1;
        case 'a': return at::linspace(0, 1, at::empty(shape).numel()).reshape(shape);
        case 'e': {
            const auto root = normal(at::kFloat);
            return root.matmul(root.mT()) + at::eye(shape.back()) * 4;
        }
        case 'l': {
            const auto square = normal(at::kFloat);
            return square.tril(-1) + at::eye(shape.back()) * 2;
        }
        case 's': return sparse(normal(at::kFloat)).to_sparse();
        case 'r': return sparse(normal(at::kFloat)).to_sparse_csr();
        case 'q': return sparse(normal(at::kFloat)).to_sparse_csc();
        case 'n': return at::arange(c10::multiply_integers(shape)).reshape(shape);
        case 'i': return between(at::kLong);
        case 'j': return between(at::kInt);
        case 'u': return between(at::kByte);
        case 'b': return at::randint(0, 2, shape, generator_, at::TensorOptions(at::kLong)).to(at::kBool);
        default: misfit(token, "tensor");
        }
    }

    c10::IValue value(const std::string& token, const c10::Argument& argument) {
        auto type = argument.type();
        if (const auto optional = type->cast<c10::OptionalType>()) {
            if (token == "-") {
                return {};
            }
            type = optional->getElementType();
        }
        if (token == "-" && type->kind() == TypeKind::TensorType) {
            return at::Tensor();
        }
        switch (type->kind()) {
        case TypeKind::TensorType: return tensor(token);
        case TypeKind::ListType: return list(token, type->cast<c10::ListType>()->getElementType());
        case TypeKind::StorageType: return tensor("f" + token.substr(1)).storage();
        default: return scalar(token, *type);
        }
    }

private:
    static at::Tensor sparse(const at::Tensor& dense) { return dense.masked_fill(dense < 0, 0); }

    c10::IValue scalar(const std::string& token, const c10::Type& type) {
        if (token.empty()) {
            misfit(token, type.str());
        }
        const bool number =
            std::isdigit(static_cast<unsigned char>(token[0])) != 0 || token[0] == '-' || token[0] == '.';
        if (token == "true" || token == "false") {
            if (type.kind() != TypeKind::BoolType && type.kind() != TypeKind::NumberType) {
                misfit(token, type.str());
            }
            return token == "true";
        }
        if (token[0] == '\'') {
            if (type.kind() != TypeKind::StringType) {
                misfit(token, type.str());
            }
            return std::string(inside(token));
        }
        if (type.kind() == TypeKind::DeviceObjType) {
            return c10::Device(token);
        }
        if (const auto dtype = dtypes.find(token); dtype != dtypes.end()) {
            return static_cast<std::int64_t>(dtype->second);
        }
        if (!number || type.kind() == TypeKind::BoolType || type.kind() == TypeKind::StringType) {
            misfit(token, type.str());
        }
        if (type.kind() == TypeKind::FloatType || token.find('.') != std::string::npos) {
            if (type.kind() != TypeKind::FloatType && type.kind() != TypeKind::NumberType) {
                misfit(token, type.str());
            }
            return std::stod(token);
        }
        return std::int64_t{std::stoll(token)};
    }

    c10::IValue list(const std::string& token, const c10::TypePtr& element) {
        const bool tensors = token[0] == '[';
        if (!tensors && token[0] != '{') {
            misfit(token, "list");
        }
        const auto parts = words(inside(token), tensors ? ' ' : ',');
        if (element->kind() == TypeKind::TensorType && tensors) {
            c10::List<at::Tensor> made;
            for (const auto& part : parts) {
                made.push_back(tensor(part));
            }
            return made;
        }
        if (element->kind() == TypeKind::OptionalType && tensors) {
            c10::List<OptionalTensor> made;
            for (const auto& part : parts)
                made.push_back(part == "-" ? OptionalTensor() : OptionalTensor(tensor(part)));
            return made;
        }
        if (tensors || element->kind() == TypeKind::TensorType) {
            misfit(token, "list of " + element->str());
        }
        const auto gather = [&]<class T>(c10::List<T> made, auto get) {
            for (const auto& part : parts) {
                made.push_back(get(scalar(part, *element)));
            }
            return c10::IValue(made);
        };
        switch (element->kind()) {
        case TypeKind::FloatType: return gather(c10::List<double>(), [](const c10::IValue& v) { return v.toDouble(); });
        case TypeKind::BoolType: return gather(c10::List<bool>(), [](const c10::IValue& v) { return v.toBool(); });
        case TypeKind::StringType:
            return gather(c10::List<std::string>(), [](const c10::IValue& v) { return v.toStringRef(); });
        case TypeKind::NumberType: {
            auto made = c10::impl::GenericList(element);
            for (const auto& part : parts) {
                made.push_back(scalar(part, *element));
            }
            return made;
        }
        default: return gather(c10::List<std::int64_t>(), [](const c10::IValue& v) { return v.toInt(); });
        }
    }

    at::Generator generator_ = at::detail::createCPUGenerator(4711);
};

// --- Guessing ---

struct Guess {
    const char* tensor;
    const char* shape;
    const char* index;
    const char* mask;
};

constexpr std::array<Guess, 19> guesses = {{
    {"f(3,4)", "{3,4}", "i(3,4)<3", "b(3,4)"},
    {"f(4,4)", "{4,4}", "i(4,4)<4", "b(4,4)"},
    {"p(4,4)", "{4,4}", "i(4,4)<4", "b(4,4)"},
    {"i(3,4)<3", "{3,4}", "i(3,4)<3", "b(3,4)"},
    {"b(3,4)", "{3,4}", "i(3,4)<3", "b(3,4)"},
    {"f(2,3,4)", "{2,3,4}", "i(2,3,4)<2", "b(2,3,4)"},
    {"f(2,4,4)", "{2,4,4}", "i(2,4,4)<2", "b(2,4,4)"},
    {"f(5)", "{5}", "i(5)<5", "b(5)"},
    {"f(3)", "{3}", "i(3)<3", "b(3)"},
    {"f(2,3,8,8)", "{2,3,8,8}", "i(2,3,8,8)<2", "b(2,3,8,8)"},
    {"f(2,3,4,5,6)", "{2,3,4,5,6}", "i(2,3,4,5,6)<2", "b(2,3,4,5,6)"},
    {"c(4,4)", "{4,4}", "i(4,4)<4", "b(4,4)"},
    {"e(4,4)", "{4,4}", "i(4,4)<4", "b(4,4)"},
    {"i(5)<3", "{5}", "i(5)<5", "b(5)"},
    {"u(3,4)", "{3,4}", "i(3,4)<3", "b(3,4)"},
    {"f()", "{}", "i()<1", "b()"},
    {"f(1)", "{1}", "i(1)<1", "b(1)"},
    {"s(3,4)", "{3,4}", "i(3,4)<3", "b(3,4)"},
    {"f(1,4)", "{1,4}", "i(1,4)<1", "b(1,4)"},
}};

using ByName = std::map<std::string, std::string, std::less<>>;

const ByName ints = {
    {"dim", "0"},     {"dim0", "0"},       {"axis0", "0"},         {"source", "0"},     {"dim1", "1"},
    {"axis1", "1"},   {"dim2", "1"},       {"destination", "1"},   {"n", "2"},          {"N", "3"},
    {"m", "3"},       {"axis", "0"},       {"index", "0"},         {"split_size", "2"}, {"sections", "2"},
    {"chunks", "2"},  {"k", "2"},          {"size", "2"},          {"step", "1"},       {"steps", "5"},
    {"start", "0"},   {"length", "2"},     {"end", "2"},           {"low", "0"},        {"high", "5"},
    {"row", "3"},     {"col", "4"},        {"window_length", "6"}, {"dimension", "0"},  {"groups", "1"},
    {"p", "2"},       {"dtype", "double"}, {"from", "0"},          {"to", "5"},         {"decimals", "1"},
    {"repeats", "2"}, {"offset", "1"},     {"num_samples", "2"},   {"reduction", "1"}};
const ByName lists = {{"dim", "{0}"},     {"dims", "{0,1}"},        {"source", "{0}"},    {"destination", "{1}"},
                      {"shifts", "{1}"},  {"split_sizes", "{1,2}"}, {"repeats", "{2,3}"}, {"pad", "{1,1}"},
                      {"indices", "{1}"}, {"split_size", "{1,2}"}};
const ByName texts = {{"reduce", "'sum'"}, {"ord", "'fro'"}, {"indexing", "'ij'"}};

/// What is written for a required argument, when nothing else is known; none when it cannot be guessed.
std::optional<std::string> guessed(const c10::Argument& argument, const Guess& guess) {
    auto type = argument.type();
    if (const auto optional = type->cast<c10::OptionalType>()) {
        if (argument.name() != "dim" && argument.name() != "p") {
            return "-";
        }
        type = optional->getElementType();
    }
    const auto& name = argument.name();
    const auto look = [&](const ByName& table) -> std::optional<std::string> {
        const auto found = table.find(name);
        return found == table.end() ? std::nullopt : std::optional(found->second);
    };
    switch (type->kind()) {
    case TypeKind::TensorType:
        return name == "index" || name == "indices"    ? guess.index
               : name == "mask" || name == "condition" ? guess.mask
                                                       : guess.tensor;
    case TypeKind::FloatType: return "0.5";
    case TypeKind::NumberType: return name == "end" ? "5" : "2";
    case TypeKind::BoolType: return "false";
    case TypeKind::StringType: return look(texts);
    case TypeKind::ListType: {
        const auto element = type->cast<c10::ListType>()->getElementType();
        if (element->kind() == TypeKind::TensorType) {
            return std::string("[") + guess.tensor + " " + guess.tensor + "]";
        }
        if (element->kind() == TypeKind::OptionalType) {
            return "[i(2)<2]";
        }
        if (name == "size" || name == "sizes" || name == "shape") {
            return guess.shape;
        }
        return look(lists);
    }
    default: return look(ints);
    }
}

std::string base_name(const std::string& name) {
    const bool in_place = name.size() > 1 && name.back() == '_' && name[name.size() - 2] != '_';
    return in_place ? name.substr(0, name.size() - 1) : name;
}

} // namespace

Inputs read_inputs(const std::string& path) {
    std::ifstream file(path);
    if (!file) {
        throw std::runtime_error(path + " cannot be read");
    }
    Inputs inputs;
    std::string line;
    while (std::getline(file, line)) {
        if (line.empty() || line[0] == '#') {
            continue;
        }
        auto parts = words(line);
        const auto name = parts.front();
        if (parts.size() > 1 && parts[1] == "!") {
            inputs.unsupported[name] = line.substr(line.find('!') + 2);
            continue;
        }
        Recipe recipe;
        for (auto part = parts.begin() + 1; part != parts.end(); ++part) {
            const auto equals = part->find('=');
            if (equals != std::string::npos && std::isalpha(static_cast<unsigned char>(part->front())) != 0) {
                recipe.named[part->substr(0, equals)] = part->substr(equals + 1);
            } else if (part->front() == '@') {
                recipe.stays.insert(recipe.positional.size());
                recipe.positional.push_back(part->substr(1));
            } else {
                recipe.positional.push_back(*part);
            }
        }
        inputs.recipes[name].push_back(std::move(recipe));
    }
    return inputs;
}

std::string full_name(const c10::OperatorHandle& op) {
    const auto name = op.schema().name().substr(op.schema().name().rfind(':') + 1);
    return op.schema().overload_name().empty() ? name : name + "." + op.schema().overload_name();
}

bool is_out(const c10::Argument& argument) {
    return argument.kwarg_only() && argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

std::vector<Recipe> candidates(const c10::OperatorHandle& op, const Inputs& inputs) {
    std::vector<Recipe> all;
    const auto full = full_name(op);
    const auto name = full.substr(0, full.find('.'));
    auto overload = op.schema().overload_name();
    if (const auto out = overload.rfind("_out"); out != std::string::npos) overload.erase(out);
    for (const auto& key : {full, base_name(name) + "." + overload, name, base_name(name)}) {
        const auto found = inputs.recipes.find(key);
        if (found != inputs.recipes.end()) {
            all = found->second;
            break;
        }
    }
    for (const auto& guess : guesses) {
        Recipe recipe;
        bool complete = true;
        for (const auto& argument : op.schema().arguments()) {
            if (is_out(argument) || argument.default_value()) {
                continue;
            }
            const auto token = guessed(argument, guess);
            complete = complete && token.has_value();
            recipe.named[argument.name()] = token.value_or("");
        }
        if (complete) {
            all.push_back(std::move(recipe));
        }
    }
    return all;
}

std::vector<c10::IValue> make_arguments(const c10::OperatorHandle& op, const Recipe& recipe) {
    Maker maker;
    std::vector<c10::IValue> arguments;
    std::size_t at = 0;
    std::size_t named = 0;
    for (const auto& argument : op.schema().arguments()) {
        const auto by_name = recipe.named.find(argument.name());
        if (is_out(argument)) {
            arguments.emplace_back();
        } else if (by_name != recipe.named.end()) {
            arguments.push_back(maker.value(by_name->second, argument));
            ++named;
        } else if (at < recipe.positional.size() && !argument.kwarg_only()) {
            arguments.push_back(maker.value(recipe.positional[at], argument));
            ++at;
        } else if (argument.default_value()) {
            arguments.push_back(*argument.default_value());
        } else if (argument.type()->kind() == TypeKind::OptionalType) {
            arguments.emplace_back();
        } else {
            throw std::invalid_argument("nothing for `" + argument.name() + "`");
        }
    }
    if (at < recipe.positional.size() || named < recipe.named.size()) {
        throw std::invalid_argument("more than the operator takes");
    }
    return arguments;
}

at::Tensor moved(const at::Tensor& tensor, c10::Device device) {
    if (!tensor.defined()) return tensor;
    // libtorch 1.13 copies no such tensor.
    if (tensor.layout() == at::kSparseCsc) {
        return at::sparse_csc_tensor(tensor.ccol_indices().to(device), tensor.row_indices().to(device),
                                     tensor.values().to(device), tensor.sizes(), tensor.options().device(device));
    }
    return tensor.to(device);
}

c10::IValue moved(const c10::IValue& value, c10::Device device) {
    if (value.isTensor()) {
        return moved(value.toTensor(), device);
    }
    if (value.isTensorList()) {
        c10::List<at::Tensor> list;
        for (const at::Tensor& tensor : value.toTensorVector()) {
            list.push_back(moved(tensor, device));
        }
        return list;
    }
    if (value.isOptionalTensorList()) {
        c10::List<OptionalTensor> list;
        for (const auto& tensor : value.toOptionalTensorVector()) {
            list.push_back(tensor.has_value() ? OptionalTensor(moved(*tensor, device)) : OptionalTensor());
        }
        return list;
    }
    if (value.isStorage()) {
        return at::empty({0}).set_(value.toStorage()).to(device).storage();
    }
    if (value.isDevice()) {
        return device;
    }
    return value;
}

} // namespace operators
