// SPDX-License-Identifier: Apache-2.0
#include "soma/detail/engine.h"

#include <atomic>
#include <mutex>

#include <fmt/format.h>

#include "engine_now.h"
#include "libraries.h"
#include "soma/error.h"
#include "soma/version.h"

namespace soma::detail {

constinit std::atomic<const Engine*> accepted_engine{nullptr};

namespace {

std::atomic<const Engine*> rejected{nullptr};

bool fits(const Engine& engine) { return engine.revision == engine_revision && engine.struct_size >= sizeof(Engine); }

[[noreturn]] void throw_mismatch(const Engine& engine) {
    throw EngineError(
        fmt::format("the tensor engine in this process was built for somatize {} (engine revision {}), but "
                    "this is somatize {} (engine revision {}): install both from one release",
                    engine.core_version, engine.revision, version(), engine_revision));
}

} // namespace

const Engine* engine() noexcept { return engine_now(); }

void provide_engine(const Engine* engine) noexcept {
    if (engine == nullptr) return;
    const Engine* none = nullptr;
    (fits(*engine) ? accepted_engine : rejected).compare_exchange_strong(none, engine, std::memory_order_acq_rel);
}

namespace {

// Apart from `require_engine`, which is on the way of every operator.
const Engine& load_engine() {
    static std::mutex loading;
    const std::lock_guard guard(loading);
    if (const Engine* found = engine()) return *found;
    if (const Engine* found = rejected.load(std::memory_order_acquire)) throw_mismatch(*found);
    std::string why;
    // The library registers itself by provide_engine while it is loaded.
    if (load_own_library("libsomatize-torch.so", why) == nullptr) {
        throw EngineError(fmt::format("tensors are needed, but the tensor engine cannot be loaded ({})", why));
    }
    if (const Engine* found = engine()) return *found;
    if (const Engine* found = rejected.load(std::memory_order_acquire)) throw_mismatch(*found);
    throw EngineError("tensors are needed, but libsomatize-torch.so gave no tensor engine: it is not the one that "
                      "belongs to this somatize");
}

} // namespace

const Engine& require_engine() {
    const Engine* found = engine();
    return found != nullptr ? *found : load_engine();
}

} // namespace soma::detail
