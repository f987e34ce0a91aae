// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ThreadLocalState.h>
#include <c10/core/AutogradState.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include "compat.h"
#include "devices.h"
#include "engine_table.h"

// Of the libraries below libtorch, where it has them. Each sets the number for the calling thread alone.
extern "C" {
__attribute__((weak, visibility("default"))) void omp_set_num_threads(int count);
__attribute__((weak, visibility("default"))) int MKL_Set_Num_Threads_Local(int count);
}

namespace soma::detail {

namespace {

// Which word of StateWords holds what. The first four are what a worker takes over from its caller; the others are each
// thread's own.
constexpr std::size_t flags_word = 0;
constexpr std::size_t included_word = 1;
constexpr std::size_t excluded_word = 2; // autocast is on where its key is not excluded
constexpr std::size_t autocast_word = 3;
constexpr std::size_t inherited_words = StateWords::inherited;
constexpr std::size_t threads_word = inherited_words; // the first of the thread's own, as the executor knows
constexpr std::size_t devices_word = 5;
constexpr std::size_t streams_word = 6; // the current one of every device, told as `SeenStreams` does

// Bits of the flags word.
constexpr unsigned grad_bit = 0;
constexpr unsigned inference_bit = 1;
constexpr unsigned forward_grad_bit = 2;
constexpr unsigned multithreading_bit = 3;
constexpr unsigned view_replay_bit = 4;
constexpr unsigned grad_layout_bit = 5;
constexpr unsigned autocast_cache_bit = 6;
constexpr unsigned default_dtype_shift = 8;
constexpr std::uint64_t byte = 0xff;

constexpr unsigned device_bits = 16;
constexpr std::uint64_t device_mask = (std::uint64_t{1} << device_bits) - 1;

// Kinds with a current device of the thread's own.
constexpr std::array device_types{c10::DeviceType::CUDA, c10::DeviceType::XPU, c10::DeviceType::HPU};

std::uint64_t bit(bool on, unsigned position) noexcept { return static_cast<std::uint64_t>(on) << position; }

bool is_on(std::uint64_t word, unsigned position) noexcept { return (word >> position & 1) != 0; }

// Templates, so that what a libtorch lacks is left out.
template <typename State>
std::uint64_t autograd_flags(const State& state) noexcept {
    std::uint64_t flags = bit(state.get_grad_mode(), grad_bit) | bit(state.get_inference_mode(), inference_bit) |
                          bit(state.get_fw_grad_mode(), forward_grad_bit);
    if constexpr (requires { state.get_multithreading_enabled(); }) {
        flags |= bit(state.get_multithreading_enabled(), multithreading_bit);
    }
    if constexpr (requires { state.get_view_replay_enabled(); }) {
        flags |= bit(state.get_view_replay_enabled(), view_replay_bit);
    }
    if constexpr (requires { state.get_grad_layout_enforcement_enabled(); }) {
        flags |= bit(state.get_grad_layout_enforcement_enabled(), grad_layout_bit);
    }
    return flags;
}

template <typename State>
void set_autograd_flags(State& state, std::uint64_t flags) noexcept {
    state.set_grad_mode(is_on(flags, grad_bit));
    state.set_inference_mode(is_on(flags, inference_bit));
    state.set_fw_grad_mode(is_on(flags, forward_grad_bit));
    if constexpr (requires { state.get_multithreading_enabled(); }) {
        state.set_multithreading_enabled(is_on(flags, multithreading_bit));
    }
    if constexpr (requires { state.get_view_replay_enabled(); }) {
        state.set_view_replay_enabled(is_on(flags, view_replay_bit));
    }
    if constexpr (requires { state.get_grad_layout_enforcement_enabled(); }) {
        state.set_grad_layout_enforcement_enabled(is_on(flags, grad_layout_bit));
    }
}

// One byte a device type: the dtype that autocast casts to there.
#if SOMA_TORCH_AT_LEAST(2, 4)
constexpr std::array autocast_types{c10::DeviceType::CPU, c10::DeviceType::CUDA, c10::DeviceType::XPU,
                                    c10::DeviceType::MPS, c10::DeviceType::HPU,  c10::DeviceType::PrivateUse1};

std::uint64_t autocast_dtypes() {
    std::uint64_t dtypes = 0;
    for (std::size_t i = 0; i < autocast_types.size(); ++i) {
        dtypes |= static_cast<std::uint64_t>(at::autocast::get_autocast_dtype(autocast_types[i])) << (8 * i);
    }
    return dtypes;
}

void set_autocast_dtypes(std::uint64_t dtypes) {
    for (std::size_t i = 0; i < autocast_types.size(); ++i) {
        at::autocast::set_autocast_dtype(autocast_types[i], static_cast<c10::ScalarType>(dtypes >> (8 * i) & byte));
    }
}
#else
std::uint64_t autocast_dtypes() {
    return static_cast<std::uint64_t>(at::autocast::get_autocast_cpu_dtype()) |
           static_cast<std::uint64_t>(at::autocast::get_autocast_gpu_dtype()) << 8 |
           static_cast<std::uint64_t>(at::autocast::get_autocast_xpu_dtype()) << 16;
}

void set_autocast_dtypes(std::uint64_t dtypes) {
    at::autocast::set_autocast_cpu_dtype(static_cast<c10::ScalarType>(dtypes & byte));
    at::autocast::set_autocast_gpu_dtype(static_cast<c10::ScalarType>(dtypes >> 8 & byte));
    at::autocast::set_autocast_xpu_dtype(static_cast<c10::ScalarType>(dtypes >> 16 & byte));
}
#endif

void read_inherited(StateWords& out) {
    out.words[flags_word] = autograd_flags(c10::AutogradState::get_tls_state()) |
                            bit(at::autocast::is_autocast_cache_enabled(), autocast_cache_bit) |
                            static_cast<std::uint64_t>(c10::get_default_dtype_as_scalartype()) << default_dtype_shift;
    c10::impl::LocalDispatchKeySet keys = c10::impl::tls_local_dispatch_key_set();
    out.words[included_word] = keys.included_.raw_repr();
    out.words[excluded_word] = keys.excluded_.raw_repr();
    out.words[autocast_word] = autocast_dtypes();
}

// The guard of a backend that has devices here; asking for a current device where there are none would throw.
const c10::impl::DeviceGuardImplInterface* live_guard(c10::DeviceType type) noexcept {
    const auto* guard = guard_of(type);
    return guard != nullptr && guard->deviceCount() > 0 ? guard : nullptr;
}

/// Calls `each` with the calling thread's current stream of each device.
template <typename Each>
void each_current_stream(Each each) {
    for (const c10::DeviceType type : device_types) {
        const auto* guard = live_guard(type);
        if (guard == nullptr) continue;
        for (c10::DeviceIndex i = 0; i < static_cast<c10::DeviceIndex>(guard->deviceCount()); ++i) {
            each(guard->getStream(c10::Device(type, i)));
        }
    }
}

/// Makes them the calling thread's. Only what differs is told: to tell a device may wake it up.
void install_streams(const std::vector<c10::Stream>& streams) {
    for (const c10::Stream& stream : streams) {
        const auto* guard = guard_of(stream.device_type());
        if (guard->getStream(stream.device()) != stream) guard->exchangeStream(stream);
    }
}

/// Numbers the sets of streams, one of each device, that were current on a thread: a word tells which, however many
/// devices there are. Nearly always there is one.
class SeenStreams {
public:
    std::uint64_t number_of_current() {
        for (auto seen = seen_.end(); seen != seen_.begin();) {
            if (!are_current((--seen)->streams)) continue;
            use(seen);
            return seen_.back().number;
        }
        if (seen_.size() == most) seen_.erase(seen_.begin());
        std::vector<c10::Stream> streams;
        each_current_stream([&](c10::Stream stream) { streams.push_back(stream); });
        seen_.push_back({++last_, std::move(streams)});
        return last_;
    }

    void install(std::uint64_t number) {
        const auto seen =
            std::find_if(seen_.begin(), seen_.end(), [&](const Seen& one) { return one.number == number; });
        if (seen == seen_.end()) return;
        install_streams(seen->streams);
        use(seen);
    }

private:
    struct Seen {
        std::uint64_t number;
        std::vector<c10::Stream> streams;
    };

    /// Those used last are found first, and kept.
    void use(std::vector<Seen>::iterator seen) { std::rotate(seen, seen + 1, seen_.end()); }

    static bool are_current(const std::vector<c10::Stream>& streams) {
        std::size_t at = 0;
        bool equal = true;
        each_current_stream([&](c10::Stream stream) {
            equal = equal && at < streams.size() && streams[at] == stream;
            ++at;
        });
        return equal && at == streams.size();
    }

    static constexpr std::size_t most = 1024; ///< nodes inside nodes need one for each that sets streams
    std::vector<Seen> seen_;
    std::uint64_t last_ = 0;
};

thread_local SeenStreams seen_streams;

void read_devices(StateWords& out) {
    std::uint64_t devices = 0;
    for (std::size_t i = 0; i < device_types.size(); ++i) {
        const auto* guard = live_guard(device_types[i]);
        if (guard == nullptr) continue;
        devices |= static_cast<std::uint64_t>(guard->getDevice().index() + 1) << (device_bits * i);
    }
    out.words[devices_word] = devices;
    out.words[streams_word] = devices != 0 ? seen_streams.number_of_current() : 0;
}

void write_inherited(const StateWords& from, const StateWords& now) {
    const std::uint64_t flags = from.words[flags_word];
    const std::uint64_t changed = flags ^ now.words[flags_word];
    if (changed != 0) {
        set_autograd_flags(c10::AutogradState::get_tls_state(), flags);
        if (is_on(changed, autocast_cache_bit)) {
            at::autocast::set_autocast_cache_enabled(is_on(flags, autocast_cache_bit));
        }
        if ((changed >> default_dtype_shift & byte) != 0) {
            const auto type = static_cast<c10::ScalarType>(flags >> default_dtype_shift & byte);
            c10::set_default_dtype(c10::scalarTypeToTypeMeta(type));
        }
    }
    if (from.words[included_word] != now.words[included_word] ||
        from.words[excluded_word] != now.words[excluded_word]) {
        c10::impl::PODLocalDispatchKeySet keys{};
        keys.set_included(c10::DispatchKeySet(c10::DispatchKeySet::RAW, from.words[included_word]));
        keys.set_excluded(c10::DispatchKeySet(c10::DispatchKeySet::RAW, from.words[excluded_word]));
        c10::impl::_force_tls_local_dispatch_key_set(keys);
    }
    if (from.words[autocast_word] != now.words[autocast_word]) set_autocast_dtypes(from.words[autocast_word]);
}

void write_devices(const StateWords& from, const StateWords& now) {
    if (from.words[streams_word] != now.words[streams_word]) seen_streams.install(from.words[streams_word]);
    if (from.words[devices_word] == now.words[devices_word]) return;
    for (std::size_t i = 0; i < device_types.size(); ++i) {
        const auto index = static_cast<int>(from.words[devices_word] >> (device_bits * i) & device_mask) - 1;
        const auto* guard = live_guard(device_types[i]);
        if (guard == nullptr || index < 0) continue;
        guard->uncheckedSetDevice(c10::Device(device_types[i], static_cast<c10::DeviceIndex>(index)));
    }
}

/// State that the words do not hold: a profiler, saved-tensor hooks, functorch. Rare, and costly to compare, so where
/// there is any, two threads are taken to differ.
bool has_more_than_words() {
    return c10::ThreadLocalDebugInfo::current() != nullptr || at::hasThreadLocalCallbacks() ||
           !at::SavedTensorDefaultHooks::get_tls_state().stack.empty() ||
           at::functorch::functorchTLSAccessor() != nullptr;
}

/// A thread's current device and stream of each device, of every kind that is here: of a worker too, so that what a node
/// queues where it was not told is in order with the caller's own work.
class ThreadDevices {
public:
    /// The calling thread's.
    static ThreadDevices here() {
        ThreadDevices devices;
        for (const c10::DeviceType type : device_types) {
            const auto* guard = live_guard(type);
            if (guard != nullptr) devices.current_.push_back(guard->getDevice());
        }
        each_current_stream([&](c10::Stream stream) { devices.streams_.push_back(stream); });
        return devices;
    }

    [[nodiscard]] bool are_current() const {
        return std::all_of(current_.begin(), current_.end(),
                           [](c10::Device device) { return guard_of(device.type())->getDevice() == device; }) &&
               std::all_of(streams_.begin(), streams_.end(), [](c10::Stream stream) {
                   return guard_of(stream.device_type())->getStream(stream.device()) == stream;
               });
    }

    /// Makes them the calling thread's.
    void install() const {
        install_streams(streams_);
        for (const c10::Device& device : current_) {
            const auto* guard = guard_of(device.type());
            if (guard->getDevice() != device) guard->uncheckedSetDevice(device);
        }
    }

private:
    std::vector<c10::Device> current_;
    std::vector<c10::Stream> streams_;
};

/// A node has told libtorch how many threads to use, and with that those that are to come.
std::atomic<bool> number_was_set{false};

/// Sets how many threads the calling thread's operators may use, and nothing else where that can be. libtorch's own
/// function also keeps the number for threads to come, empties a cache and starts another thread pool anew, which takes
/// milliseconds.
void set_intraop_threads(int count) {
    static const bool reachable =
        omp_set_num_threads != nullptr && (!at::hasMKL() || MKL_Set_Num_Threads_Local != nullptr);
    if (reachable && !number_was_set.load(std::memory_order_relaxed)) {
        omp_set_num_threads(count);
        if (MKL_Set_Num_Threads_Local != nullptr) MKL_Set_Num_Threads_Local(count);
        if (at::get_num_threads() == count) return;
    }
    at::set_num_threads(count);
}

struct Captured {
    at::ThreadLocalState state;
    StateWords words{};
    ThreadDevices devices = ThreadDevices::here();
    std::thread::id thread = std::this_thread::get_id();
    bool more = has_more_than_words();
};

struct Installed {
    Installed(const Captured& captured, const StateWords& before)
        : before(before), devices_before(ThreadDevices::here()), guard(captured.state) {
        // The default dtype belongs to the whole process: another thread may have it changed just now, and what it was
        // when the run began is right for all.
        constexpr std::uint64_t dtype = byte << default_dtype_shift;
        this->before.words[flags_word] =
            (before.words[flags_word] & ~dtype) | (captured.words.words[flags_word] & dtype);
        StateWords now{};
        read_inherited(now);
        write_inherited(captured.words, now);
        captured.devices.install();
    }
    ~Installed() {
        guard.reset();
        try {
            devices_before.install();
            StateWords now{};
            read_inherited(now);
            write_inherited(before, now);
        } catch (...) {
        }
    }
    Installed(const Installed&) = delete;
    Installed& operator=(const Installed&) = delete;

    StateWords before;
    ThreadDevices devices_before;
    std::optional<at::ThreadLocalStateGuard> guard;
};

} // namespace

void* engine_state_capture() noexcept {
    try {
        auto captured = std::make_unique<Captured>();
        read_inherited(captured->words);
        return captured.release();
    } catch (...) {
        return nullptr;
    }
}

void engine_state_free(void* state) noexcept {
    static_cast<void>(std::unique_ptr<Captured>(static_cast<Captured*>(state)));
}

void* engine_state_enter(const void* state) noexcept {
    if (state == nullptr) return nullptr;
    const auto& captured = *static_cast<const Captured*>(state);
    try {
        StateWords now{};
        read_inherited(now);
        const bool equal = std::memcmp(now.words, captured.words.words, inherited_words * sizeof(std::uint64_t)) == 0 &&
                           captured.devices.are_current();
        if (equal && (captured.thread == std::this_thread::get_id() || !(captured.more || has_more_than_words()))) {
            return nullptr;
        }
        return std::make_unique<Installed>(captured, now).release();
    } catch (...) {
        return nullptr;
    }
}

void engine_state_leave(void* guard) noexcept {
    static_cast<void>(std::unique_ptr<Installed>(static_cast<Installed*>(guard)));
}

void engine_state_words(StateWords* out) noexcept {
    try {
        *out = {};
        read_inherited(*out);
        out->words[threads_word] = static_cast<std::uint64_t>(at::get_num_threads());
        read_devices(*out);
    } catch (...) {
    }
}

void engine_state_restore(const StateWords* words) noexcept {
    try {
        StateWords now{};
        engine_state_words(&now);
        write_inherited(*words, now);
        if (now.words[threads_word] != words->words[threads_word]) {
            number_was_set = true;
            engine_set_intraop_threads(static_cast<std::int32_t>(words->words[threads_word]));
        }
        write_devices(*words, now);
    } catch (...) {
    }
}

void engine_state_watch(StateWatch* out) noexcept {
    // Grad and inference mode, and the dispatch keys that carry autocast and inference mode. The flags are the last members;
    // before them newer versions keep what no operator changes.
    constexpr std::size_t flags = std::min<std::size_t>(sizeof(c10::AutogradState), alignof(void*));
    const auto* autograd = reinterpret_cast<const char*>(&c10::AutogradState::get_tls_state());
    *out = {{autograd + sizeof(c10::AutogradState) - flags, &c10::impl::raw_local_dispatch_key_set},
            {flags, sizeof(c10::impl::raw_local_dispatch_key_set)}};
}

bool engine_grad_enabled() noexcept { return c10::AutogradState::get_tls_state().get_grad_mode(); }

std::int32_t engine_intraop_threads() noexcept {
    try {
        return at::get_num_threads();
    } catch (...) {
        return 1;
    }
}

void engine_set_intraop_threads(std::int32_t count) noexcept {
    try {
        if (count > 0 && count != at::get_num_threads()) set_intraop_threads(count);
    } catch (...) {
    }
}

} // namespace soma::detail
