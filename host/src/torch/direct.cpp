// SPDX-License-Identifier: Apache-2.0
#include "direct.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

#include "compat.h"
#include "operators.h"
#include "values.h"

namespace soma::detail {

namespace {

/// What stands for an argument that is not given, and whether anything does.
struct Default {
    bool exists = false;
    bool none = false;
    at::Scalar number;
};

Default default_of(const Parameter& parameter) {
    if (parameter.fallback == nullptr) return {};
    return {true, parameter.fallback->isNone(),
            parameter.fallback->isScalar() ? parameter.fallback->toScalar() : at::Scalar()};
}

/// Reads one argument; `value` is null where none was given.
template <class Argument>
struct Reader;

template <>
struct Reader<const at::Tensor&> {
    static bool fits(const Parameter& parameter) { return parameter.want == Want::tensor && !parameter.optional; }
    bool read(const Default&, const soma_value* value) noexcept {
        tensor = value;
        return value != nullptr && value->kind == SOMA_KIND_TENSOR;
    }
    const at::Tensor& get() const noexcept { return tensor_of(tensor); }

    const soma_value* tensor = nullptr;
};

template <>
struct Reader<const Maybe<at::Tensor>&> {
    static bool fits(const Parameter& parameter) { return parameter.want == Want::tensor && parameter.optional; }
    bool read(const Default& otherwise, const soma_value* value) {
        if (value == nullptr) return otherwise.none;
        if (value->kind == SOMA_KIND_TENSOR) tensor = tensor_of(value);
        return value->kind == SOMA_KIND_TENSOR || value->kind == SOMA_KIND_NONE;
    }
    const Maybe<at::Tensor>& get() const noexcept { return tensor; }

    Maybe<at::Tensor> tensor;
};

template <>
struct Reader<const at::Scalar&> {
    static bool fits(const Parameter& parameter) { return parameter.want == Want::scalar && !parameter.optional; }
    bool read(const Default& otherwise, const soma_value* value) {
        if (value == nullptr) {
            number = otherwise.number;
            return otherwise.exists;
        }
        switch (value->kind) {
        case SOMA_KIND_INT: number = value->integer; return true;
        case SOMA_KIND_FLOAT: number = value->real; return true;
        default: return false;
        }
    }
    const at::Scalar& get() const noexcept { return number; }

    at::Scalar number;
};

template <>
struct Reader<std::int64_t> {
    static bool fits(const Parameter& parameter) { return parameter.want == Want::integer && !parameter.optional; }
    bool read(const Default&, const soma_value* value) noexcept {
        if (value == nullptr || value->kind != SOMA_KIND_INT) return false;
        number = value->integer;
        return true;
    }
    std::int64_t get() const noexcept { return number; }

    std::int64_t number = 0;
};

template <class... Arguments>
class DirectTo final : public Direct {
public:
    static std::unique_ptr<const Direct> find(const soma_operator& op) {
        if (op.writes || op.results != 1 || op.parameters.size() != sizeof...(Arguments)) return nullptr;
        std::size_t index = 0;
        if (!(Reader<Arguments>::fits(op.parameters[index++]) && ...)) return nullptr;
        try {
            return std::make_unique<DirectTo>(op);
        } catch (const c10::Error&) {
            // Implemented in C++ with other types than the schema's own: an int that may be symbolic, for one.
            return nullptr;
        }
    }

    explicit DirectTo(const soma_operator& op)
        : positional_(op.positional), handle_(op.handle.typed<at::Tensor(Arguments...)>()) {
        for (std::size_t i = 0; i < sizeof...(Arguments); ++i) defaults_[i] = default_of(op.parameters[i]);
    }

    bool call(soma_call& call) const override { return call_with(call, std::index_sequence_for<Arguments...>{}); }

private:
    template <std::size_t... I>
    bool call_with(soma_call& call, std::index_sequence<I...>) const {
        if (call.named_count != 0 || call.arg_count > positional_) return false;
        if (std::find(call.args, call.args + call.arg_count, nullptr) != call.args + call.arg_count) return false;
        std::tuple<Reader<Arguments>...> readers;
        const auto given = [&call](std::size_t i) { return i < call.arg_count ? call.args[i] : nullptr; };
        if (!(std::get<I>(readers).read(defaults_[I], given(I)) && ...)) return false;
        call.results[0] = give(handle_.call(std::get<I>(readers).get()...));
        call.result_count = 1;
        return true;
    }

    std::array<Default, sizeof...(Arguments)> defaults_;
    std::uint32_t positional_; ///< how many may be given by position
    c10::TypedOperatorHandle<at::Tensor(Arguments...)> handle_;
};

template <class... Directs>
std::unique_ptr<const Direct> first_of(const soma_operator& op) {
    std::unique_ptr<const Direct> found;
    static_cast<void>(((found = Directs::find(op)) || ...));
    return found;
}

} // namespace

std::unique_ptr<const Direct> find_direct(const soma_operator& op) {
    using T = const at::Tensor&;
    using OptionalT = const Maybe<at::Tensor>&;
    using Scalar = const at::Scalar&;
    using Int = std::int64_t;
    if (op.handle.schema().returns().size() != 1 ||
        op.handle.schema().returns()[0].type()->kind() != c10::TypeKind::TensorType) {
        return nullptr;
    }
    return first_of<DirectTo<T>,                 // relu, neg
                    DirectTo<T, T>,              // mul, matmul
                    DirectTo<T, T, Scalar>,      // add, sub
                    DirectTo<T, Scalar>,         // mul by a number
                    DirectTo<T, Scalar, Scalar>, // add of a number
                    DirectTo<T, T, OptionalT>,   // linear
                    DirectTo<T, Int>,            // unsqueeze
                    DirectTo<T, Int, Int>        // transpose
                    >(op);
}

} // namespace soma::detail
