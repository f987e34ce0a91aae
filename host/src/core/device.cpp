// SPDX-License-Identifier: Apache-2.0
#include "soma/device.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "core/quote.h"
#include "soma/error.h"
#include "soma/suggest.h"

namespace soma {

namespace {

struct Row {
    DeviceKind kind;
    std::string_view name;
    bool has_index;
};

// Everything that is known of a kind. A new one is a number in the ABI, an enumerator and a row here.
constexpr Row rows[] = {
    {DeviceKind::cpu, "cpu", false}, {DeviceKind::cuda, "cuda", true}, {DeviceKind::meta, "meta", false},
    {DeviceKind::xpu, "xpu", true},  {DeviceKind::mps, "mps", false},  {DeviceKind::hpu, "hpu", true},
};

constexpr int last_index = 127; // libtorch keeps an index in a signed byte, and wraps what is larger

const Row* find(DeviceKind kind) {
    const auto* row = std::find_if(std::begin(rows), std::end(rows), [&](const Row& r) { return r.kind == kind; });
    return row == std::end(rows) ? nullptr : row;
}

const Row* find(std::string_view name) {
    const auto* row = std::find_if(std::begin(rows), std::end(rows), [&](const Row& r) { return r.name == name; });
    return row == std::end(rows) ? nullptr : row;
}

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string lower_case(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return out;
}

// The device that a malformed text most likely means.
std::string mended(std::string_view text) {
    std::string clean = lower_case(text);
    clean.erase(std::remove_if(clean.begin(), clean.end(), is_space), clean.end());
    const std::size_t colon = clean.find(':');
    const Row* row = find(std::string_view(clean).substr(0, colon));
    if (row == nullptr) return "write one such as `cpu` or `cuda:0`";
    if (!row->has_index) return fmt::format("write `{}`", row->name);
    std::string_view digits =
        colon == std::string::npos ? std::string_view() : std::string_view(clean).substr(colon + 1);
    if (!digits.empty() && digits.front() == '+') digits.remove_prefix(1);
    digits = digits.substr(0, digits.find(':'));
    while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
    const bool number = !digits.empty() && digits.size() <= 3 && std::all_of(digits.begin(), digits.end(), is_digit);
    const int index = number ? std::stoi(std::string(digits)) : 0;
    return fmt::format("write `{}:{}`", row->name, index <= last_index ? index : 0);
}

[[noreturn]] void not_shaped(std::string_view text, std::string_view why) {
    throw DeviceError(fmt::format("{} is not shaped like a device: {}; {}", detail::quoted(text), why, mended(text)));
}

[[noreturn]] void unknown_kind(std::string_view text, std::string_view kind) {
    std::vector<std::string> names;
    std::string all;
    for (const Row& row : rows) {
        names.emplace_back(row.name);
        all += fmt::format("{}`{}{}`", all.empty() ? "" : ", ", row.name, row.has_index ? ":N" : "");
    }
    // The everyday word for it, and nearer to `cpu` by its letters.
    const std::string meant = lower_case(kind) == "gpu" ? " (did you mean `cuda`?)" : did_you_mean(kind, names);
    const std::string in = kind == text ? "" : " in " + detail::quoted(text);
    throw DeviceError(fmt::format("unknown device kind {}{}{}; there are {}", detail::quoted(kind), in, meant, all));
}

[[noreturn]] void index_missing(std::string_view kind) {
    throw DeviceError(fmt::format("`{0}` needs an index: write `{0}:0` for the first one", kind));
}

[[noreturn]] void out_of_range(std::string_view text) {
    throw DeviceError(fmt::format("{} is out of range: indices are 0 to {}", detail::quoted(text), last_index));
}

} // namespace

std::string_view to_string(DeviceKind kind) noexcept {
    const Row* row = find(kind);
    return row == nullptr ? "unknown" : row->name;
}

bool has_index(DeviceKind kind) noexcept {
    const Row* row = find(kind);
    return row != nullptr && row->has_index;
}

std::vector<DeviceKind> device_kinds() {
    std::vector<DeviceKind> kinds;
    for (const Row& row : rows) kinds.push_back(row.kind);
    return kinds;
}

Device::Device(DeviceKind kind, std::optional<int> index) : kind_(kind), index_(index.value_or(0)) {
    const Row* row = find(kind);
    if (row == nullptr) {
        throw DeviceError(fmt::format("there is no device kind of number {}", static_cast<std::int32_t>(kind)));
    }
    if (row->has_index && !index) index_missing(row->name);
    if (!row->has_index && index) throw DeviceError(fmt::format("`{0}` has no index: leave it out", row->name));
    if (index_ < 0 || index_ > last_index) out_of_range(str());
}

Device Device::parse(std::string_view text) {
    if (text.empty()) {
        throw DeviceError("the empty text is not shaped like a device: write one such as `cpu` or `cuda:0`");
    }
    if (std::any_of(text.begin(), text.end(), is_space)) not_shaped(text, "a device has no spaces");
    const std::size_t colon = text.find(':');
    const std::string_view name = text.substr(0, colon);
    if (name.empty()) not_shaped(text, "no kind stands before the colon");
    const Row* row = find(name);
    if (row == nullptr) {
        if (find(lower_case(name)) != nullptr) not_shaped(text, "kinds are written in lower case");
        unknown_kind(text, name);
    }
    if (colon == std::string_view::npos) {
        if (row->has_index) index_missing(row->name);
        return Device(row->kind);
    }
    const std::string_view index = text.substr(colon + 1);
    if (!row->has_index) not_shaped(text, fmt::format("`{}` has no index", row->name));
    if (index.empty()) not_shaped(text, "no index follows the colon");
    if (index.find(':') != std::string_view::npos) not_shaped(text, "it has more than one colon");
    if (index.front() == '+' || index.front() == '-') not_shaped(text, "an index has no sign");
    if (!std::all_of(index.begin(), index.end(), is_digit)) {
        not_shaped(text, fmt::format("the index {} is not a number", detail::quoted(index)));
    }
    if (index.size() > 1 && index.front() == '0') not_shaped(text, "an index has no leading zero");
    if (index.size() > 3 || std::stoi(std::string(index)) > last_index) out_of_range(text);
    return Device(row->kind, std::stoi(std::string(index)));
}

std::optional<Device> Device::from_place(soma_place place) noexcept {
    const Row* row = find(static_cast<DeviceKind>(place.kind));
    if (row == nullptr) return std::nullopt;
    // libtorch says -1 or 0 where there is no index: one place.
    if (!row->has_index) return place.index <= 0 ? std::optional<Device>(Device(row->kind)) : std::nullopt;
    if (place.index < 0 || place.index > last_index) return std::nullopt;
    return Device(row->kind, place.index);
}

std::string Device::str() const {
    return has_index(kind_) ? fmt::format("{}:{}", to_string(kind_), index_) : std::string(to_string(kind_));
}

} // namespace soma
