// SPDX-License-Identifier: Apache-2.0
#include "direct.h"

#include <array>
#include <cstddef>
#include <string>
#include <tuple>
#include <utility>

#include <ATen/core/IListRef.h>
#include <c10/core/SymIntArrayRef.h>
#include <c10/util/OptionalArrayRef.h>
#include <c10/util/SmallVector.h>
#include <c10/util/string_view.h>

#include "compat.h"
#include "core/value_data.h"
#include "operators.h"
#include "values.h"

namespace soma::detail {

namespace {

/// Reads one argument of the C++ type into a `Slot` that lives as long as the call. `read` takes what is given, which is
/// null for none; `leave_out` stands for an argument that is not given. Both say whether that is plainly what the operator
/// wants.
template <class Argument>
struct Reader;

template <>
struct Reader<const at::Tensor&> {
    using Slot = const soma_value*;
    static bool fits(const Parameter& parameter) { return parameter.want == Want::tensor && !parameter.optional; }
    explicit Reader(const Parameter&) noexcept {}
    bool read(const soma_value* value, Slot& slot) const noexcept {
        slot = value;
        return value != nullptr && value->kind == SOMA_KIND_TENSOR;
    }
    bool leave_out(Slot&) const noexcept { return false; }
    static const at::Tensor& get(const Slot& slot) noexcept { return tensor_of(slot); }
};

/// What readers of an argument that may be none have in common: it may be left out where none stands for it then.
class NoneReader {
public:
    explicit NoneReader(const Parameter& parameter)
        : may_leave_out_(parameter.fallback != nullptr && parameter.fallback->isNone()) {}
    template <class Slot>
    bool leave_out(Slot&) const noexcept {
        return may_leave_out_;
    }

private:
    bool may_leave_out_;
};

template <>
struct Reader<const Maybe<at::Tensor>&> : NoneReader {
    using NoneReader::NoneReader;
    using Slot = Maybe<at::Tensor>;
    static bool fits(const Parameter& parameter) { return parameter.want == Want::tensor && parameter.optional; }
    bool read(const soma_value* value, Slot& slot) const {
        const std::uint32_t kind = kind_of(value);
        if (kind == SOMA_KIND_TENSOR) slot = tensor_of(value);
        return kind == SOMA_KIND_TENSOR || kind == SOMA_KIND_NONE;
    }
    static const Slot& get(const Slot& slot) noexcept { return slot; }
};

template <>
struct Reader<const at::Scalar&> {
    using Slot = at::Scalar;
    static bool fits(const Parameter& parameter) { return parameter.want == Want::scalar && !parameter.optional; }
    explicit Reader(const Parameter& parameter)
        : may_leave_out_(parameter.fallback && parameter.fallback->isScalar()),
          otherwise_(may_leave_out_ ? parameter.fallback->toScalar() : at::Scalar()) {}
    bool read(const soma_value* value, Slot& slot) const {
        switch (kind_of(value)) {
        case SOMA_KIND_INT: slot = value->integer; return true;
        case SOMA_KIND_FLOAT: slot = value->real; return true;
        default: return false;
        }
    }
    bool leave_out(Slot& slot) const {
        slot = otherwise_;
        return may_leave_out_;
    }
    static const Slot& get(const Slot& slot) noexcept { return slot; }

private:
    bool may_leave_out_;
    at::Scalar otherwise_;
};

/// A number of the C++ type `Number`, which comes as a value of kind `kind`.
template <class Number, Want wanted, std::uint32_t kind>
struct NumberReader {
    using Slot = Number;
    static bool fits(const Parameter& parameter) {
        return parameter.want == wanted && !parameter.optional && !parameter.symbolic;
    }
    explicit NumberReader(const Parameter& parameter) : may_leave_out_(is_one(parameter.fallback)) {
        if (may_leave_out_) otherwise_ = parameter.fallback->to<Number>();
    }
    bool read(const soma_value* value, Slot& slot) const noexcept {
        if (kind_of(value) != kind) return false;
        if constexpr (kind == SOMA_KIND_INT) slot = value->integer;
        if constexpr (kind == SOMA_KIND_FLOAT) slot = value->real;
        if constexpr (kind == SOMA_KIND_BOOL) slot = value->boolean;
        return true;
    }
    bool leave_out(Slot& slot) const noexcept {
        slot = otherwise_;
        return may_leave_out_;
    }
    static Number get(const Slot& slot) noexcept { return slot; }

private:
    static bool is_one(const c10::IValue* fallback) {
        if (fallback == nullptr) return false;
        if constexpr (kind == SOMA_KIND_INT) return fallback->isInt();
        if constexpr (kind == SOMA_KIND_FLOAT) return fallback->isDouble();
        return fallback->isBool();
    }

    bool may_leave_out_;
    Number otherwise_{};
};

template <>
struct Reader<std::int64_t> : NumberReader<std::int64_t, Want::integer, SOMA_KIND_INT> {
    using NumberReader::NumberReader;
};
template <>
struct Reader<double> : NumberReader<double, Want::real, SOMA_KIND_FLOAT> {
    using NumberReader::NumberReader;
};
template <>
struct Reader<bool> : NumberReader<bool, Want::boolean, SOMA_KIND_BOOL> {
    using NumberReader::NumberReader;
};

/// The same number where libtorch 2.x would also take a symbolic one.
template <>
struct Reader<c10::SymInt> : Reader<std::int64_t> {
    using Reader<std::int64_t>::Reader;
    static bool fits(const Parameter& parameter) {
        return parameter.want == Want::integer && !parameter.optional && parameter.symbolic;
    }
    static c10::SymInt get(const Slot& slot) { return slot; }
};

/// As many numbers as a tensor has dimensions, with room to spare.
struct Numbers {
    static constexpr std::size_t most = 8;
    std::array<std::int64_t, most> numbers;
    std::size_t count = 0;
    [[nodiscard]] at::IntArrayRef all() const noexcept { return {numbers.data(), count}; }
};

bool read_ints(const soma_value* value, Numbers& ints) noexcept {
    const std::vector<Value>& items = data_of<ListData>(value).items;
    if (items.size() > Numbers::most) return false;
    for (const Value& item : items) {
        const soma_value* const number = item.handle();
        if (kind_of(number) != SOMA_KIND_INT) return false;
        ints.numbers[ints.count++] = number->integer;
    }
    return true;
}

template <>
struct Reader<at::IntArrayRef> {
    using Slot = Numbers;
    static bool fits(const Parameter& parameter) { return is_list(parameter) && !parameter.symbolic; }
    explicit Reader(const Parameter& parameter) : length_(static_cast<std::size_t>(parameter.length)) {}
    bool read(const soma_value* value, Slot& slot) const noexcept {
        if (kind_of(value) != SOMA_KIND_LIST || !read_ints(value, slot)) return false;
        return length_ == 0 || slot.count == length_;
    }
    bool leave_out(Slot&) const noexcept { return false; }
    static at::IntArrayRef get(const Slot& slot) noexcept { return slot.all(); }

protected:
    static bool is_list(const Parameter& parameter) {
        return parameter.want == Want::list && parameter.item == Want::integer && !parameter.optional &&
               !parameter.item_optional;
    }

private:
    std::size_t length_; ///< 0: any
};

template <>
struct Reader<c10::SymIntArrayRef> : Reader<at::IntArrayRef> {
    using Reader<at::IntArrayRef>::Reader;
    static bool fits(const Parameter& parameter) { return is_list(parameter) && parameter.symbolic; }
    bool read(const soma_value* value, Slot& slot) const noexcept {
        if (!Reader<at::IntArrayRef>::read(value, slot)) return false;
        // Some far negative numbers stand for symbols.
        for (const std::int64_t number : slot.all()) {
            if (!c10::SymInt::check_range(number)) return false;
        }
        return true;
    }
    static c10::SymIntArrayRef get(const Slot& slot) noexcept {
        return {reinterpret_cast<const c10::SymInt*>(slot.numbers.data()), slot.count};
    }
};

/// A list of ints, or none.
template <>
struct Reader<at::OptionalIntArrayRef> : NoneReader {
    using NoneReader::NoneReader;
    using Slot = std::pair<Numbers, bool>;
    static bool fits(const Parameter& parameter) {
        return parameter.want == Want::list && parameter.item == Want::integer && parameter.optional &&
               !parameter.item_optional && !parameter.symbolic;
    }
    bool read(const soma_value* value, Slot& slot) const noexcept {
        slot.second = kind_of(value) == SOMA_KIND_LIST;
        return slot.second ? read_ints(value, slot.first) : kind_of(value) == SOMA_KIND_NONE;
    }
    static at::OptionalIntArrayRef get(const Slot& slot) noexcept {
        return slot.second ? at::OptionalIntArrayRef(slot.first.all()) : at::OptionalIntArrayRef();
    }
};

/// A dtype that is left out or none, as nearly always: every other goes the long way.
template <>
struct Reader<Maybe<at::ScalarType>> : NoneReader {
    using NoneReader::NoneReader;
    struct Slot {};
    static bool fits(const Parameter& parameter) { return parameter.want == Want::dtype && parameter.optional; }
    bool read(const soma_value* value, Slot&) const noexcept { return kind_of(value) == SOMA_KIND_NONE; }
    static Maybe<at::ScalarType> get(const Slot&) noexcept { return {}; }
};

template <>
struct Reader<Maybe<c10::SymInt>> : NoneReader {
    using NoneReader::NoneReader;
    using Slot = Maybe<std::int64_t>;
    static bool fits(const Parameter& parameter) {
        return parameter.want == Want::integer && parameter.optional && parameter.symbolic;
    }
    bool read(const soma_value* value, Slot& slot) const noexcept {
        const std::uint32_t kind = kind_of(value);
        if (kind == SOMA_KIND_INT) slot = value->integer;
        return kind == SOMA_KIND_INT || kind == SOMA_KIND_NONE;
    }
    static Maybe<c10::SymInt> get(const Slot& slot) { return slot ? Maybe<c10::SymInt>(*slot) : Maybe<c10::SymInt>(); }
};

/// A text that is left out.
template <>
struct Reader<c10::string_view> {
    struct Slot {
        const std::string* text;
    };
    static bool fits(const Parameter& parameter) {
        return parameter.want == Want::string && !parameter.optional && parameter.fallback != nullptr;
    }
    explicit Reader(const Parameter& parameter) : otherwise_(parameter.fallback->toStringRef()) {}
    bool read(const soma_value*, Slot&) const noexcept { return false; }
    bool leave_out(Slot& slot) const noexcept {
        slot.text = &otherwise_;
        return true;
    }
    static c10::string_view get(const Slot& slot) noexcept { return *slot.text; }

private:
    std::string otherwise_;
};

/// A list of tensors.
template <>
struct Reader<at::TensorList> {
    using Slot = c10::SmallVector<at::Tensor, 4>;
    static bool fits(const Parameter& parameter) {
        return parameter.want == Want::list && parameter.item == Want::tensor && !parameter.optional &&
               !parameter.item_optional;
    }
    explicit Reader(const Parameter&) noexcept {}
    bool read(const soma_value* value, Slot& slot) const {
        if (kind_of(value) != SOMA_KIND_LIST) return false;
        for (const Value& item : data_of<ListData>(value).items) {
            if (kind_of(item.handle()) != SOMA_KIND_TENSOR) return false;
            slot.push_back(tensor_of(item.handle()));
        }
        return true;
    }
    bool leave_out(Slot&) const noexcept { return false; }
    static at::TensorList get(const Slot& slot) noexcept { return slot; }
};

template <>
struct Reader<const at::ITensorListRef&> : Reader<at::TensorList> {
    using Reader<at::TensorList>::Reader;
    static at::ITensorListRef get(const Slot& slot) { return at::TensorList(slot); }
};

template <class... Arguments>
class DirectTo final : public Direct {
public:
    static std::unique_ptr<const Direct> find(const soma_operator& op) {
        if (op.writes || op.results != 1 || op.parameters.size() != sizeof...(Arguments)) return nullptr;
        std::size_t index = 0;
        if (!(Reader<Arguments>::fits(op.parameters[index++]) && ...)) return nullptr;
        try {
            return std::make_unique<DirectTo>(op, std::index_sequence_for<Arguments...>{});
        } catch (const c10::Error&) {
            // Implemented in C++ with other types than these: an int that may be symbolic, for one.
            return nullptr;
        }
    }

    template <std::size_t... I>
    DirectTo(const soma_operator& op, std::index_sequence<I...>)
        : handle_(op.handle.typed<at::Tensor(Arguments...)>()), positional_(op.positional),
          readers_(Reader<Arguments>(op.parameters[I])...) {}

    bool call(soma_call& call) const override { return call_with(call, std::index_sequence_for<Arguments...>{}); }

private:
    template <std::size_t... I>
    bool call_with(soma_call& call, std::index_sequence<I...>) const {
        if (call.named_count != 0 || call.arg_count > positional_) return false;
        std::tuple<typename Reader<Arguments>::Slot...> slots; // each empty: what is left out stays so
        const auto read = [&call](std::size_t i, const auto& reader, auto& slot) {
            return i < call.arg_count ? reader.read(call.args[i], slot) : reader.leave_out(slot);
        };
        if (!(read(I, std::get<I>(readers_), std::get<I>(slots)) && ...)) return false;
        call.results[0] = give(handle_.call(Reader<Arguments>::get(std::get<I>(slots))...));
        call.result_count = 1;
        return true;
    }

    c10::TypedOperatorHandle<at::Tensor(Arguments...)> handle_;
    std::uint32_t positional_; ///< how many may be given by position
    std::tuple<Reader<Arguments>...> readers_;
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
    using Ints = at::IntArrayRef;
    // On 2.x most sizes may be symbolic: such an operator has other types than on 1.13, and one of the two fits.
    using Sym = c10::SymInt;
    using Syms = c10::SymIntArrayRef;
    using Dtype = Maybe<at::ScalarType>;
    if (op.handle.schema().returns().size() != 1 ||
        op.handle.schema().returns()[0].type()->kind() != c10::TypeKind::TensorType) {
        return nullptr;
    }
    return first_of<DirectTo<T>,                                           // relu, neg
                    DirectTo<T, T>,                                        // mul, matmul
                    DirectTo<T, T, Scalar>,                                // add, sub
                    DirectTo<T, Scalar>,                                   // mul by a number
                    DirectTo<T, Scalar, Scalar>,                           // add of a number
                    DirectTo<T, T, OptionalT>,                             // linear
                    DirectTo<T, T, T>,                                     // where
                    DirectTo<T, Int>,                                      // unsqueeze
                    DirectTo<T, Int, Int>,                                 // transpose, select
                    DirectTo<T, Int, Sym>,                                 // select
                    DirectTo<T, Int, T>,                                   // index_select
                    DirectTo<T, Int, Maybe<Sym>, Maybe<Sym>, Sym>,         // slice
                    DirectTo<T, Ints>,                                     // permute
                    DirectTo<T, Syms>,                                     // reshape, view
                    DirectTo<T, Int, Dtype>,                               // softmax
                    DirectTo<T, Dtype>,                                    // sum of all
                    DirectTo<T, at::OptionalIntArrayRef, bool, Dtype>,     // mean, sum
                    DirectTo<T, c10::string_view>,                         // gelu
                    DirectTo<T, double, bool>,                             // dropout
                    DirectTo<T, Ints, OptionalT, OptionalT, double, bool>, // layer_norm
                    DirectTo<T, Syms, OptionalT, OptionalT, double, bool>, // the same
                    DirectTo<T, T, Int, bool, bool>,                       // embedding
                    DirectTo<T, T, Sym, bool, bool>,                       // the same
                    DirectTo<const at::ITensorListRef&, Int>,              // cat
                    DirectTo<at::TensorList, Int>                          // stack
                    >(op);
}

} // namespace soma::detail
