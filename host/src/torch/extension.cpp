// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <map>
#include <string>
#include <string_view>

#include <torch/version.h>

#include <ATen/core/Generator.h>

#include <fmt/format.h>

#include "engine_table.h"
#include "failure.h"
#include "gradients.h"
#include "places.h"
#include "soma/detail/gradients.h"
#include "soma/error.h"
#include "soma/ext/torch.h"
#include "soma/torch.h"
#include "soma/version.h"
#include "values.h"

#if defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI == 0
#define SOMA_TORCH_CXX11_ABI "0"
#else
#define SOMA_TORCH_CXX11_ABI "1"
#endif

// What libtorch was configured with, its version among it. Not declared in a header that every version installs; null
// where it is gone.
namespace caffe2 {
__attribute__((weak, visibility("default"))) const std::map<std::string, std::string>& GetBuildOptions();
}

namespace soma::detail {

namespace {

static_assert(sizeof(at::Generator) == sizeof(void*) && alignof(at::Generator) == alignof(void*));

constexpr const char* fingerprint = "libtorch=" TORCH_VERSION ";cxx11abi=" SOMA_TORCH_CXX11_ABI;

[[noreturn]] void refuse_kind(const char* wanted, const soma_value* value) {
    throw Failure(SOMA_TYPE_MISMATCH, fmt::format("wants {}, got {}", wanted, kind_with_article(kind_of(value))));
}

soma_value* give_generator(at::Generator generator) {
    if (!generator.defined()) throw Failure(SOMA_INVALID_ARGUMENT, "the generator is undefined");
    return make_engine_value(SOMA_KIND_GENERATOR, generator.unsafeReleaseGeneratorImpl());
}

soma_status* SOMA_CALL tensor_get(soma_host*, const soma_value* value, const void** tensor) {
    return guarded([&] {
        if (kind_of(value) != SOMA_KIND_TENSOR) refuse_kind("a tensor", value);
        *tensor = &tensor_of(value);
    });
}

soma_status* SOMA_CALL tensor_make(soma_host*, const void* tensor, soma_value** out) {
    return guarded([&] { *out = give(*static_cast<const at::Tensor*>(tensor)); });
}

soma_status* SOMA_CALL generator_make(soma_host*, const void* generator, soma_value** out) {
    return guarded([&] { *out = give_generator(*static_cast<const at::Generator*>(generator)); });
}

soma_status* SOMA_CALL generator_get(soma_host*, const soma_value* value, const void** generator) {
    return guarded([&] {
        if (kind_of(value) != SOMA_KIND_GENERATOR) refuse_kind("a generator", value);
        *generator = &value->payload;
    });
}

constexpr soma_torch extension_table{
    sizeof(soma_torch), 0, fingerprint, &tensor_get, &tensor_make, &generator_make, &generator_get,
};

// A libtorch that was swapped below us may work, but whoever reads the version must see both.
std::string library_name() {
    std::string name = "libtorch " TORCH_VERSION;
    if (&caffe2::GetBuildOptions == nullptr) return name;
    const auto& options = caffe2::GetBuildOptions();
    const auto found = options.find("TORCH_VERSION");
    if (found == options.end() || found->second == TORCH_VERSION) return name;
    return fmt::format("libtorch {} (the engine was built with {})", found->second, TORCH_VERSION);
}

const char* library() {
    static const std::string name = library_name();
    return name.c_str();
}

const Engine& table() {
    static const Engine engine{
        sizeof(Engine),
        engine_revision,
        SOMA_VERSION,
        library(),
        fingerprint,
        &engine_release,
        &engine_place,
        &engine_place_text,
        &engine_info,
        &engine_shape_text,
        &engine_to_nested,
        &engine_from_nested,
        &engine_to,
        &engine_state_to,
        &engine_to_meta,
        &engine_to_dlpack,
        &engine_from_dlpack,
        &engine_generator,
        &engine_op_find,
        &engine_op_call,
        &engine_extension,
        &engine_device_count,
        &engine_has_backend,
        &engine_state_capture,
        &engine_state_free,
        &engine_state_enter,
        &engine_state_leave,
        &engine_state_words,
        &engine_state_restore,
        &engine_grad_enabled,
        &engine_intraop_threads,
        &engine_set_intraop_threads,
        &engine_exchange_device,
        &engine_stream,
        &engine_set_borrowed,
        &engine_version,
        &engine_requires_grad,
        &engine_attach_backward,
        &engine_storage_id,
        &engine_synchronize,
        &engine_state_watch,
    };
    return engine;
}

// Loading the library is what makes it the core's engine, whether the core loads it or an application links it.
__attribute__((constructor)) void register_engine() { provide_engine(&table()); }

} // namespace

const void* engine_extension(const char* id) noexcept {
    if (std::strcmp(id, SOMA_EXT_TORCH) == 0) return &extension_table;
    return std::strcmp(id, gradients_id) == 0 ? engine_gradients() : nullptr;
}

} // namespace soma::detail

/// The engine's table, for a core that has loaded the library by its path.
extern "C" SOMA_API const soma::detail::Engine* soma_torch_engine() noexcept;

extern "C" const soma::detail::Engine* soma_torch_engine() noexcept { return &soma::detail::table(); }

namespace soma {

Value from_tensor(at::Tensor tensor) { return Value::adopt(detail::give(std::move(tensor))); }

at::Tensor to_tensor(const Value& value) {
    if (value.is_none()) return {};
    if (value.kind() != Kind::tensor) {
        throw ValueError(fmt::format("wants a tensor, got {}", detail::kind_with_article(value.handle()->kind)));
    }
    return detail::tensor_of(value.handle());
}

std::vector<at::Tensor> to_tensors(const Value& value) {
    std::vector<at::Tensor> tensors;
    detail::each_tensor(value, [&](const at::Tensor& tensor) { tensors.push_back(tensor); });
    return tensors;
}

Value from_generator(at::Generator generator) {
    if (!generator.defined()) throw ValueError("the generator is undefined");
    return Value::adopt(detail::give_generator(std::move(generator)));
}

at::Generator to_generator(const Value& value) {
    if (value.kind() != Kind::generator) {
        throw ValueError(fmt::format("wants a generator, got {}", detail::kind_with_article(value.handle()->kind)));
    }
    return at::Generator(c10::intrusive_ptr<c10::GeneratorImpl>::reclaim_copy(
        static_cast<c10::GeneratorImpl*>(value.handle()->payload)));
}

at::Device to_torch(const Device& device) { return *detail::to_device(device.place()); }

std::optional<Device> from_torch(at::Device device) {
    const soma_place place = detail::to_place(device);
    const auto declared = Device::from_place(place);
    if (declared && has_index(declared->kind()) && !device.has_index()) return std::nullopt;
    return declared;
}

} // namespace soma
