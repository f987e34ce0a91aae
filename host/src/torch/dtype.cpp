// SPDX-License-Identifier: Apache-2.0
#include "dtype.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "soma/suggest.h"

namespace soma::detail {

namespace {

constexpr std::uint8_t dl_int = 0;
constexpr std::uint8_t dl_uint = 1;
constexpr std::uint8_t dl_float = 2;
constexpr std::uint8_t dl_bfloat = 4;
constexpr std::uint8_t dl_complex = 5;
constexpr std::uint8_t dl_bool = 6;

constexpr soma_dl_datatype none{0, 0, 0};

// In the order of c10::ScalarType, whose numbers are written into files and so never change.
constexpr std::array<Dtype, 47> dtypes{{
    {"uint8", {dl_uint, 8, 1}},
    {"int8", {dl_int, 8, 1}},
    {"int16", {dl_int, 16, 1}},
    {"int32", {dl_int, 32, 1}},
    {"int64", {dl_int, 64, 1}},
    {"float16", {dl_float, 16, 1}},
    {"float32", {dl_float, 32, 1}},
    {"float64", {dl_float, 64, 1}},
    {"complex32", {dl_complex, 32, 1}},
    {"complex64", {dl_complex, 64, 1}},
    {"complex128", {dl_complex, 128, 1}},
    {"bool", {dl_bool, 8, 1}},
    {"qint8", none},
    {"quint8", none},
    {"qint32", none},
    {"bfloat16", {dl_bfloat, 16, 1}},
    {"quint4x2", none},
    {"quint2x4", none},
    {"bits1x8", none},
    {"bits2x4", none},
    {"bits4x2", none},
    {"bits8", none},
    {"bits16", none},
    {"float8_e5m2", none},
    {"float8_e4m3fn", none},
    {"float8_e5m2fnuz", none},
    {"float8_e4m3fnuz", none},
    {"uint16", {dl_uint, 16, 1}},
    {"uint32", {dl_uint, 32, 1}},
    {"uint64", {dl_uint, 64, 1}},
    {"uint1", none},
    {"uint2", none},
    {"uint3", none},
    {"uint4", none},
    {"uint5", none},
    {"uint6", none},
    {"uint7", none},
    {"int1", none},
    {"int2", none},
    {"int3", none},
    {"int4", none},
    {"int5", none},
    {"int6", none},
    {"int7", none},
    {"float8_e8m0fnu", none},
    {"float4_e2m1fn_x2", none},
    {"bcomplex32", none},
}};

struct Alias {
    std::string_view name;
    int number;
};

constexpr std::array<Alias, 9> dtype_aliases{{
    {"short", 2},
    {"int", 3},
    {"long", 4},
    {"half", 5},
    {"float", 6},
    {"double", 7},
    {"chalf", 8},
    {"cfloat", 9},
    {"cdouble", 10},
}};

constexpr std::array<const char*, 8> layouts{"strided",    "sparse_coo", "sparse_csr", "mkldnn",
                                             "sparse_csc", "sparse_bsr", "sparse_bsc", "jagged"};

constexpr std::array<const char*, 4> memory_formats{"contiguous_format", "preserve_format", "channels_last",
                                                    "channels_last_3d"};

std::optional<int> find(std::span<const char* const> names, std::string_view name) noexcept {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return std::nullopt;
    return static_cast<int>(found - names.begin());
}

std::string hint(std::span<const char* const> names, std::string_view name) {
    return did_you_mean(name, std::vector<std::string>(names.begin(), names.end()));
}

} // namespace

const Dtype* find_dtype(int number) noexcept {
    return number >= 0 && static_cast<std::size_t>(number) < dtypes.size() ? &dtypes[static_cast<std::size_t>(number)]
                                                                           : nullptr;
}

const char* dtype_name(int number) noexcept {
    const Dtype* dtype = find_dtype(number);
    return dtype != nullptr ? dtype->name : "unknown dtype";
}

std::optional<int> parse_dtype(std::string_view name) noexcept {
    for (std::size_t i = 0; i < dtypes.size(); ++i) {
        if (name == dtypes[i].name) return static_cast<int>(i);
    }
    for (const Alias& alias : dtype_aliases) {
        if (name == alias.name) return alias.number;
    }
    return std::nullopt;
}

std::optional<int> dtype_from_dl(soma_dl_datatype dl) noexcept {
    for (std::size_t i = 0; i < dtypes.size(); ++i) {
        const soma_dl_datatype& own = dtypes[i].dl;
        if (own.lanes == dl.lanes && own.code == dl.code && own.bits == dl.bits && own.lanes != 0) {
            return static_cast<int>(i);
        }
    }
    return std::nullopt;
}

std::string dtype_hint(std::string_view name) {
    std::vector<std::string> names;
    for (const Dtype& dtype : dtypes) names.emplace_back(dtype.name);
    for (const Alias& alias : dtype_aliases) names.emplace_back(alias.name);
    // "torch.float32" is what Python prints.
    if (constexpr std::string_view prefix = "torch."; name.substr(0, prefix.size()) == prefix) {
        name.remove_prefix(prefix.size());
        if (parse_dtype(name)) return " (write `" + std::string(name) + "`)";
    }
    return did_you_mean(name, names);
}

const char* layout_name(int number) noexcept {
    return number >= 0 && static_cast<std::size_t>(number) < layouts.size() ? layouts[static_cast<std::size_t>(number)]
                                                                            : "unknown layout";
}

std::optional<int> parse_layout(std::string_view name) noexcept {
    if (name == "sparse") return 1;
    return find(layouts, name);
}

std::string layout_hint(std::string_view name) { return hint(layouts, name); }

std::optional<int> parse_memory_format(std::string_view name) noexcept { return find(memory_formats, name); }

std::string memory_format_hint(std::string_view name) { return hint(memory_formats, name); }

} // namespace soma::detail
