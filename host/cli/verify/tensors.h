// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "soma/abi.h"
#include "soma/device.h"
#include "soma/value.h"

/// Tensors without libtorch's headers: through the engine, which must be there.
namespace soma::cli::verify {

/// Throws `ValueError` with what it says, if it says anything; takes it over.
void check(soma_status* status);

/// What an operator with one result gives: call_operator("aten::detach", "", {tensor}).
Value call_operator(const char* name, const char* overload, std::initializer_list<Value> arguments);

soma_tensor_info info_of(const Value& tensor);
std::vector<std::int64_t> shape_of(const Value& tensor);
/// "float32"
std::string_view dtype_of(const Value& tensor);
/// float32 or float64.
bool is_float(const Value& tensor);
/// "cpu", "cuda:0": where it is.
std::string place_of(const Value& tensor);

/// Its elements in row-major order, copied to the cpu.
std::vector<double> elements_of(const Value& tensor);
/// A tensor on the cpu; of no dimensions when `shape` is empty.
Value tensor_of(std::span<const double> elements, std::span<const std::int64_t> shape, std::string_view dtype);

/// The value with its tensors on a device.
Value moved_to(const Value& value, const Device& device);

/// Every tensor in a value, in order of appearance.
std::vector<Value> tensors_in(const Value& value);

/// The memory of a float tensor on the cpu, to be written to whatever autograd thinks of it.
class Memory {
public:
    explicit Memory(const Value& tensor);
    ~Memory();
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// By row-major index.
    [[nodiscard]] double get(std::size_t index) const noexcept;
    void set(std::size_t index, double value) noexcept;

private:
    [[nodiscard]] std::int64_t offset(std::size_t index) const noexcept;

    Value alias_;
    soma_dl_managed* lent_ = nullptr;
    std::size_t size_ = 1;
};

} // namespace soma::cli::verify
