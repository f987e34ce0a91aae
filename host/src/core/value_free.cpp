// SPDX-License-Identifier: Apache-2.0
// Where handles come from and go to.
#include <new>

#include "core/engine_now.h"
#include "core/handle_watch.h"
#include "core/opaque.h"
#include "core/value_data.h"

namespace soma::detail {

namespace {

// More than a wave's worth of values; less than anybody would miss. A thread that only frees what another made would
// gather handles without end.
constexpr std::uint32_t most_kept = 256;

// Freed handles of this thread, linked through their payload. No destructor and no initialiser, so that reaching it
// costs one instruction, and so that it may still be used after the thread's destructors have run.
struct FreeList {
    soma_value* first;
    std::uint32_t count;
    bool watched; // `drain` is registered
    bool closed;  // the thread is at its end: nothing is kept any more
};

#if defined(__GNUC__)
[[gnu::tls_model("initial-exec")]]
#endif
thread_local constinit FreeList free_list{};

// Freed lists of this thread, with the memory of their items: every node that reads several is given one.
struct SpareLists {
    ListData* first;
    std::uint32_t count;
};
constexpr std::uint32_t most_spare_lists = 16;
constexpr std::size_t most_spare_items = 64;

#if defined(__GNUC__)
[[gnu::tls_model("initial-exec")]]
#endif
thread_local constinit SpareLists spare_lists{};

struct Drain {
    ~Drain() {
        free_list.closed = true;
        while (spare_lists.count != 0) take_spare_list();
        while (free_list.first != nullptr) {
            soma_value* value = free_list.first;
            free_list.first = static_cast<soma_value*>(value->payload);
            ::operator delete(value);
        }
        free_list.count = 0;
    }
};

void drain_at_thread_exit() noexcept {
    thread_local Drain drain;
    static_cast<void>(drain);
    free_list.watched = true;
}

void free_handle(soma_value* value) noexcept {
    if (is_watched()) [[unlikely]]
        watch_freed(value);
    // A handle used after its end is seen by these as long as nobody else has got it.
    value->kind = 0;
    value->refs.store(0, std::memory_order_relaxed);
    if (free_list.count >= most_kept || free_list.closed) {
        ::operator delete(value);
        return;
    }
    if (!free_list.watched) drain_at_thread_exit();
    value->payload = free_list.first;
    free_list.first = value;
    ++free_list.count;
}

// Far from both ends of the count: neither references that a plugin forgot to release nor ones it released too often
// can make it end.
constexpr std::uint32_t immortal_refs = 0x8000'0000u;

constinit soma_value the_none{immortal_refs, SOMA_KIND_NONE, {.integer = 0}};

void free_list_data(ListData* data) noexcept {
    const std::size_t room = data->items.capacity();
    if (free_list.closed || spare_lists.count >= most_spare_lists || room == 0 || room > most_spare_items) {
        std::default_delete<ListData>{}(data);
        return;
    }
    data->items.clear();
    data->next_spare = spare_lists.first;
    spare_lists.first = data;
    ++spare_lists.count;
}

bool is_container(const soma_value* value) noexcept {
    return value->kind == SOMA_KIND_LIST || value->kind == SOMA_KIND_DICT;
}

Container& container(soma_value* value) noexcept {
    return value->kind == SOMA_KIND_LIST ? *static_cast<Container*>(static_cast<ListData*>(value->payload))
                                         : *static_cast<Container*>(static_cast<DictData*>(value->payload));
}

void destroy_data(soma_value* value) noexcept {
    switch (value->kind) {
    case SOMA_KIND_STRING: std::default_delete<StringData>{}(static_cast<StringData*>(value->payload)); break;
    case SOMA_KIND_BYTES: std::default_delete<BytesData>{}(static_cast<BytesData*>(value->payload)); break;
    case SOMA_KIND_OPAQUE: destroy_opaque(static_cast<OpaqueData*>(value->payload)); break;
    case SOMA_KIND_GENERATOR: engine_now()->release(value->kind, value->payload); break;
    default: break;
    }
}

void destroy_leaf(soma_value* value) noexcept {
    if (value->kind == SOMA_KIND_TENSOR) {
        engine_now()->release(value->kind, value->payload);
    } else if (value->kind > SOMA_KIND_FLOAT) {
        destroy_data(value);
    } else if (value == &the_none) {
        value->refs.store(immortal_refs, std::memory_order_relaxed);
        return;
    }
    free_handle(value);
}

// Drops one reference of something a dying container held; what dies with it is freed, or put off when it is a container.
void drop(Value& held, soma_value*& pending) noexcept {
    if (held.is_none()) return;
    soma_value* value = held.release();
    if (!drop_reference(value)) return;
    if (is_container(value)) {
        container(value).next = pending;
        pending = value;
    } else {
        destroy_leaf(value);
    }
}

// Not one after the other within each other, for want of a deep stack.
void destroy_container(soma_value* value) noexcept {
    soma_value* pending = value;
    container(value).next = nullptr;
    while (pending != nullptr) {
        soma_value* dying = pending;
        pending = container(dying).next;
        if (dying->kind == SOMA_KIND_LIST) {
            auto* data = static_cast<ListData*>(dying->payload);
            for (Value& item : data->items) drop(item, pending);
            free_list_data(data);
        } else {
            auto* data = static_cast<DictData*>(dying->payload);
            for (auto& entry : data->entries) drop(entry.second, pending);
            std::default_delete<DictData>{}(data);
        }
        free_handle(dying);
    }
}

} // namespace

soma_value* new_handle(std::uint32_t kind) {
    soma_value* value = free_list.first;
    if (value != nullptr) {
        free_list.first = static_cast<soma_value*>(value->payload);
        --free_list.count;
    } else {
        value = static_cast<soma_value*>(::operator new(sizeof(soma_value)));
        std::construct_at(&value->refs, 1u);
    }
    value->refs.store(1, std::memory_order_relaxed);
    value->kind = kind;
    if (is_watched()) [[unlikely]]
        watch_made(value, kind);
    return value;
}

std::unique_ptr<ListData> take_spare_list() {
    ListData* const data = spare_lists.first;
    if (data == nullptr) return std::make_unique<ListData>();
    spare_lists.first = data->next_spare;
    --spare_lists.count;
    return std::unique_ptr<ListData>(data);
}

soma_value* none_handle() noexcept { return &the_none; }

void destroy_value(soma_value* value) noexcept {
    if (!is_container(value)) {
        destroy_leaf(value);
        return;
    }
    destroy_container(value);
}

} // namespace soma::detail
