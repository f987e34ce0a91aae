// SPDX-License-Identifier: Apache-2.0
#include "borrowed.h"

#include <string>

#include <ATen/SparseCsrTensorImpl.h>
#include <ATen/SparseTensorImpl.h>

#include "engine_table.h"
#include "failure.h"
#include "values.h"

namespace soma::detail {

namespace {

[[gnu::tls_model("initial-exec")]] thread_local constinit const Borrowed* current = nullptr;

} // namespace

const Borrowed* borrowed() noexcept { return current; }

void engine_set_borrowed(const Borrowed* borrowed) noexcept { current = borrowed; }

std::uint64_t memory_of(const at::Tensor& tensor) noexcept {
    const c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
    if (impl->has_storage()) return reinterpret_cast<std::uintptr_t>(impl->storage().unsafeGetStorageImpl());
    if (impl->key_set().has_any(c10::sparse_ks) && impl->layout() == c10::kSparse) {
        const at::Tensor values = static_cast<const at::SparseTensorImpl*>(impl)->values();
        if (values.defined() && values.has_storage()) return memory_of(values);
    }
    if (impl->key_set().has_any(c10::sparse_csr_ks)) {
        const at::Tensor& values = static_cast<const at::SparseCsrTensorImpl*>(impl)->values();
        if (values.defined() && values.has_storage()) return memory_of(values);
    }
    return reinterpret_cast<std::uintptr_t>(impl);
}

void check_writable(const at::Tensor& tensor, const char* writer) {
    if (lent_read_only(tensor)) {
        throw Failure(SOMA_FAILED_PRECONDITION, std::string(writer) +
                                                    " would modify memory that was lent read-only; clone the tensor "
                                                    "first");
    }
    if (current == nullptr) return;
    bool shared = false;
    const std::uint64_t memory = memory_of(tensor);
    each_tensor(*Reading(current->value),
                [&](const at::Tensor& other) { shared = shared || memory_of(other) == memory; });
    if (shared) {
        throw Failure(SOMA_FAILED_PRECONDITION, std::string(writer) + " would modify its input in place while `" +
                                                    current->sharer + "` shares it");
    }
}

} // namespace soma::detail
