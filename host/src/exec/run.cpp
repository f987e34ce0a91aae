// SPDX-License-Identifier: Apache-2.0
#include "run.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <limits>

#include <fmt/format.h>

#include "core/value_data.h"
#include "pause.h"
#include "soma/detail/status.h"
#include "soma/json.h"
#include "soma/plugin.h"

namespace soma::exec {
namespace {

std::int64_t now_ns() noexcept { return std::chrono::steady_clock::now().time_since_epoch().count(); }

/// splitmix64's finaliser (Steele, Lea, Flood 2014): neighbouring seeds give unrelated numbers.
std::uint64_t mix(std::uint64_t x) noexcept {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

/// What a thread is in the middle of, so that a pipeline run by a node knows what it is inside of.
struct Inside {
    const Run* run;
    const detail::Borrowed* borrowed;
    const detail::RunContext* context;
    std::uint64_t runs; ///< that the node has begun on this thread so far
};
// Read at every node: initial-exec reaches it with one instruction, where the default model calls a function.
[[gnu::tls_model("initial-exec")]] thread_local constinit Inside* inside = nullptr;

/// What the node that the thread is in the middle of must not write to; null outside all nodes.
const detail::Borrowed* borrowed_around() noexcept { return inside == nullptr ? nullptr : inside->borrowed; }

/// The run that this thread last helped, and the thread's state as its nodes are to find it. Every node leaves that state
/// behind as it was, so the thread still has it when it helps the same run again, unless a guard has come or gone since.
struct Helped {
    std::uint64_t run_id = 0; ///< 0: none
    ThreadWatch watch;
};
thread_local constinit Helped helped;

/// When a run that may take `timeout` must end; 0: never.
std::int64_t deadline(const std::optional<std::chrono::nanoseconds>& timeout) noexcept {
    if (!timeout) return 0;
    const std::int64_t now = now_ns();
    const bool beyond_time = timeout->count() > std::numeric_limits<std::int64_t>::max() - now;
    return beyond_time ? 0 : now + timeout->count();
}

/// What a custom backward needs once the run, and perhaps the pipeline, is gone.
struct BackwardOwner {
    explicit BackwardOwner(std::shared_ptr<Instance> node) : instance(std::move(node)) {}
    std::shared_ptr<Instance> instance;
};

soma_status* run_backward(void* owner, soma_value* saved, soma_value* grads, soma_value** out) {
    const NodeType& type = static_cast<BackwardOwner*>(owner)->instance->type();
    try {
        return type.functions.backward(type.plugin->host(), saved, grads, out);
    } catch (...) {
        return detail::status_from_exception(type.plugin->name);
    }
}

void release_backward(void* owner) noexcept { delete static_cast<BackwardOwner*>(owner); }

/// Makes the node's own backward part of autograd; `value` becomes what carries it.
soma_status* attach_backward(const BoundNode& node, soma_value* input, const Value& saved, Value& value) {
    const detail::Engine* engine = detail::engine_now();
    if (engine == nullptr || !engine->grad_enabled()) return nullptr;
    std::vector<Value> inputs;
    collect_tensors(Value::share(input), inputs);
    for (State& state : node.instance->state()) {
        if (state.parameter) inputs.push_back(std::move(state.value));
    }
    auto owner = std::make_unique<BackwardOwner>(node.instance);
    const detail::BackwardCall call{run_backward, release_backward, owner.release(), node.instance->id().c_str()};
    soma_value* out = nullptr;
    soma_status* status =
        engine->attach_backward(&call, saved.handle(), Value::list(std::move(inputs)).handle(), value.handle(), &out);
    if (status == nullptr) value = Value::adopt(out);
    return status;
}

std::string failed_text(soma_status* status) {
    std::string text = detail::full_message(status);
    detail::release_status(status);
    return text;
}

} // namespace

std::uintptr_t this_thread() noexcept {
    [[gnu::tls_model("initial-exec")]] static thread_local constinit char marker = 0;
    return reinterpret_cast<std::uintptr_t>(&marker);
}

/// One wave under way; lives on the stack of the thread that waits for it.
struct Run::WaveRun {
    Run& run;
    Frame& frame; ///< of the sequence the wave is in
    const Program::Wave& wave;
    std::uintptr_t thread;
    mutable std::atomic<std::uint32_t> failed_at{0xffffffff}; ///< first branch that failed
};

Run::Run(const Program& program, const std::vector<BoundNode>& nodes, Driver& driver)
    : program_(program), nodes_(nodes), driver_(driver), store_(program.readers), contexts_(nodes.size()),
      versions_(program.shared.size()) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        detail::RunContext& context = contexts_[i];
        const std::string& id = nodes[i].instance->id();
        context.ctx = {};
        context.ctx.struct_size = sizeof(soma_ctx);
        context.ctx.node_id = {id.c_str(), id.size()};
        context.ctx.device = nodes[i].placed ? nodes[i].device_text.c_str() : nullptr;
        context.ctx.place = nodes[i].place;
        context.stop = &stop_;
        context.magic = detail::run_context_magic;
    }
}

Value Run::result() {
    if (program_.results.size() == 1) return Value::adopt(store_.take(program_.results.front()));
    std::vector<Value> values;
    values.reserve(program_.results.size());
    for (const std::uint32_t slot : program_.results) values.push_back(Value::adopt(store_.take(slot)));
    return Value::list(std::move(values));
}

void Run::find_engine(Frame& frame) {
    const detail::Engine* engine = detail::engine_now();
    if (engine == nullptr) return;
    const bool in_branch = frame.wave != nullptr && frame.parent->engine != nullptr;
    frame.intraop_before = engine->intraop_threads();
    frame.intraop = intraop_of(frame, *engine);
    frame.engine = engine;
    if (frame.intraop_before != frame.intraop) engine->set_intraop_threads(frame.intraop);
    frame.own_watch.emplace().start(*engine, in_branch ? frame.parent->watch : nullptr);
    frame.watch = &*frame.own_watch;
}

/// The share of each branch depends on the plan alone, never on how many threads there are: results are the same
/// whatever the number of jobs, and branches together never use more threads than the caller may.
std::int32_t Run::share_of(std::int32_t threads, const WaveRun& wave) noexcept {
    return std::max(1, threads / static_cast<std::int32_t>(wave.wave.count));
}

std::int32_t Run::intraop_of(const Frame& frame, const detail::Engine& engine) {
    if (frame.engine != nullptr) return frame.intraop;
    if (frame.wave == nullptr) return engine.intraop_threads();
    // Frames around this one are null here when the engine came while their wave was under way. They are not told: other
    // branches read them.
    return share_of(intraop_of(*frame.parent, engine), *frame.wave);
}

bool Run::guarded(std::uint32_t begin, std::uint32_t end, Frame& frame) noexcept {
    try {
        return sequence(begin, end, frame);
    } catch (...) {
        // What a node throws never gets here: these are faults of the host (out of memory) or of a progress callback.
        soma_status* status = detail::status_from_exception("host");
        fail({2ULL * begin, program_.ops[begin].node, false, "the run failed: " + failed_text(status)});
        return false;
    }
}

bool Run::must_stop(const Frame& frame) noexcept {
    for (const Frame* at = &frame; at->wave != nullptr; at = at->parent) {
        if (at->wave->failed_at.load(std::memory_order_relaxed) < at->branch) return true;
    }
    return false;
}

bool Run::wave(const Program::Op& op, Frame& frame) {
    if (frame.engine == nullptr) find_engine(frame);
    WaveRun under_way{*this, frame, program_.waves[op.wave], this_thread()};
    // Only outside all waves, where no branch can be reading it. Where the engine comes later than the outermost wave,
    // there was no state to take along when the run began.
    if (frame.engine != nullptr && driver_.jobs() > 1 && state_ == nullptr && frame.wave == nullptr) {
        state_ = {frame.engine->state_capture(), frame.engine->state_free};
    }
    // Set here and not by the branches that this thread takes: libtorch also keeps the number last set for threads that
    // are new to it, and that must be the caller's again once all branches are done.
    const std::int32_t share = share_of(frame.intraop, under_way);
    const bool split = frame.engine != nullptr && share != frame.intraop;
    if (split) frame.engine->set_intraop_threads(share);
    driver_.run_wave({&Run::run_branch, &under_way, under_way.wave.count});
    if (split) frame.engine->set_intraop_threads(frame.intraop);
    return under_way.failed_at.load(std::memory_order_acquire) == 0xffffffff;
}

void Run::run_branch(void* context, std::size_t branch) noexcept {
    const auto& wave = *static_cast<const WaveRun*>(context);
    Run& run = wave.run;
    const Program::Branch& range = run.program_.branches[wave.wave.first + branch];
    Frame frame;
    frame.parent = &wave.frame;
    frame.wave = &wave;
    frame.branch = static_cast<std::uint32_t>(branch);
    const detail::Engine* engine = wave.frame.engine;
    const bool in_place = this_thread() == wave.thread;
    const bool helping = !in_place && run.state_ != nullptr;
    const bool again = helping && helped.run_id == run.run_id_;
    void* guard = nullptr;
    if (engine != nullptr && (in_place || again)) {
        frame.engine = engine;
        frame.intraop = frame.intraop_before = share_of(wave.frame.intraop, wave);
        frame.watch = in_place ? wave.frame.watch : &frame.own_watch.emplace(helped.watch);
        if (again) engine->set_intraop_threads(frame.intraop);
    } else if (helping) {
        guard = engine->state_enter(run.state_.get());
        if (guard != nullptr) helped.run_id = 0;
    }
    if (!run.guarded(range.begin, range.end, frame)) {
        std::uint32_t first = wave.failed_at.load(std::memory_order_relaxed);
        while (first > branch && !wave.failed_at.compare_exchange_weak(first, static_cast<std::uint32_t>(branch),
                                                                       std::memory_order_acq_rel)) {
        }
    }
    // A thread that helps is told its number by the next branch it takes, or when the wave that it waits for ends. One that
    // owns the wave has the number already. Neither holds where the engine came with this branch.
    if (wave.frame.engine == nullptr && frame.engine != nullptr && frame.intraop != frame.intraop_before) {
        frame.engine->set_intraop_threads(frame.intraop_before);
    }
    if (guard != nullptr) {
        engine->state_leave(guard);
        helped.run_id = 0;
    } else if (helping && !again && frame.own_watch) {
        helped = {run.run_id_, *frame.own_watch};
    }
}

/// Enters a node that is not re-entrant; false when this run is inside it already, through a pipeline that it runs.
bool Run::lock(Instance& instance) const noexcept {
    const auto me = reinterpret_cast<std::uintptr_t>(this);
    std::uintptr_t holder = 0;
    int looks = 0;
    while (!instance.holder.compare_exchange_weak(holder, me, std::memory_order_acquire, std::memory_order_relaxed)) {
        if (holder != 0) {
            for (const Run* run = outer_; run != nullptr; run = run->outer_) {
                if (holder == reinterpret_cast<std::uintptr_t>(run)) return false;
            }
            if (looks++ < spins) {
                pause();
            } else {
                instance.holder.wait(holder, std::memory_order_relaxed);
            }
        }
        holder = 0;
    }
    return true;
}

void Run::unlock(Instance& instance) noexcept {
    instance.holder.store(0, std::memory_order_release);
    instance.holder.notify_one();
}

soma_value* Run::take_list(std::uint32_t node) {
    const auto reads = program_.reads_of(node);
    auto list = detail::take_spare_list();
    list->items.reserve(reads.size());
    for (const std::uint32_t slot : reads) list->items.push_back(Value::adopt(store_.take(slot)));
    return detail::make_list_value(std::move(list));
}

/// Those items of a node's input that others read as well.
Value Run::lent_items(std::uint32_t node, soma_value* input) const {
    const auto reads = program_.reads_of(node);
    const Value all = Value::share(input);
    std::vector<Value> items;
    for (std::size_t i = 0; i < reads.size(); ++i) {
        if (program_.shared_of[reads[i]] != 0) items.push_back(all.at(i));
    }
    return Value::list(std::move(items));
}

bool Run::observe(const Program::Op& op, std::int64_t ns, bool accepted) {
    const std::uint32_t index = op.node;
    if (options_->report != nullptr) {
        NodeReport& report = (*options_->report)[index];
        report.time = std::chrono::nanoseconds(ns);
        report.ran = true;
    }
    if (!accepted || !options_->progress) return true;
    const std::string& id = nodes_[index].instance->id();
    try {
        const std::lock_guard guard(mutex_);
        options_->progress(id);
    } catch (...) {
        const std::string why = failed_text(detail::status_from_exception("host"));
        return fail({order_of(op), index, false, fmt::format("the run failed after node `{}`: {}", id, why)});
    }
    return true;
}

soma_status* Run::enter(const BoundNode& node, const soma_ctx& ctx, soma_value* input, soma_outcome& outcome,
                        const detail::Borrowed* borrowed) const {
    // A node's context is the first member of what the host knows about it.
    Inside here{this, borrowed, reinterpret_cast<const detail::RunContext*>(&ctx), 0};
    Inside* const outside = std::exchange(inside, &here);
    soma_status* status = nullptr;
    try {
        status = node.forward(node.self, &ctx, input, &outcome);
    } catch (...) {
        status = detail::status_from_exception(node.instance->type().plugin->name);
    }
    inside = outside;
    return status;
}

soma_status* Run::forward(const Program::Op& op, const Frame& frame, soma_value* input, soma_outcome& outcome) {
    const BoundNode& node = nodes_[op.node];
    detail::RunContext& context = contexts_[op.node];
    context.ctx.run_id = run_id_;
    context.ctx.seed = mix(seed_ ^ node.seed_salt);
    context.ctx.grad_mode = grad_ ? 1 : 0;
    context.ctx.training = training_ ? 1 : 0;
    context.deadline_ns = deadline_ns_;

    const bool ordinary = node.reentrant && !node.has_stream && lent_ == nullptr;
    soma_status* status = nullptr;
    if (ordinary && op.loan.part == Program::Loan::nothing) {
        status = enter(node, context.ctx, input, outcome, nullptr);
    } else if (ordinary && op.loan.part == Program::Loan::everything && frame.engine != nullptr) {
        const detail::Borrowed borrowed{context.ctx.node_id.data, contexts_[op.loan.sharer].ctx.node_id.data, input};
        frame.engine->set_borrowed(&borrowed);
        status = enter(node, context.ctx, input, outcome, &borrowed);
        frame.engine->set_borrowed(borrowed_around());
    } else {
        status = forward_guarded(op, frame, input, outcome);
    }
    if (frame.engine != nullptr) frame.watch->restore(*frame.engine, frame.intraop, node.links_engine);
    return status;
}

soma_status* Run::forward_guarded(const Program::Op& op, const Frame& frame, soma_value* input, soma_outcome& outcome) {
    const BoundNode& node = nodes_[op.node];
    soma_ctx& ctx = contexts_[op.node].ctx;
    const detail::Engine* engine = frame.engine;
    const Program::Loan loan = op.loan;
    detail::Borrowed borrowed{};
    Value lent; // keeps what `borrowed` speaks of
    const detail::Borrowed* here = lent_;
    std::int32_t device_before = 0;
    if (engine != nullptr) {
        if (loan.part != Program::Loan::nothing) {
            if (loan.part == Program::Loan::some) lent = lent_items(op.node, input);
            borrowed = {node.instance->id().c_str(), nodes_[loan.sharer].instance->id().c_str(),
                        loan.part == Program::Loan::some ? lent.handle() : input};
            here = &borrowed;
        }
        if (here != nullptr) engine->set_borrowed(here);
        if (node.has_stream) {
            device_before = engine->exchange_device(node.place);
            ctx.stream = engine->stream(node.place);
        }
    }
    soma_status* status = nullptr;
    if (!node.reentrant && !lock(*node.instance)) {
        status = detail::make_status(SOMA_FAILED_PRECONDITION, "it is entered again from inside itself");
    } else {
        status = enter(node, ctx, input, outcome, here);
        if (!node.reentrant) unlock(*node.instance);
    }
    if (engine != nullptr) {
        if (node.has_stream) engine->exchange_device({node.place.kind, device_before});
        if (here != nullptr) engine->set_borrowed(borrowed_around());
    }
    return status;
}

void Run::put_input(const Value& input) {
    const auto slot = static_cast<std::uint32_t>(nodes_.size());
    if (program_.readers[slot] == 0) return;
    if (observed_) show_result(slot, input.handle());
    store_.put(slot, Value(input).release());
    if (const std::uint32_t shared = program_.shared_of[slot]; shared != 0) versions_[shared - 1] = version_of(slot);
}

bool Run::accept(const Program::Op& op, const Frame& frame, soma_value* input, soma_outcome& outcome,
                 soma_status* status) {
    const BoundNode& node = nodes_[op.node];
    const bool plain = status == nullptr && outcome.kind == SOMA_OUTCOME_DONE && outcome.value != nullptr &&
                       outcome.saved == nullptr && !node.has_backward &&
                       (!node.placed || is_at(outcome.value, node.place, frame.engine));
    if (!plain) [[unlikely]] {
        if (!accept_other(op, input, outcome, status)) return false;
    }
    if (observed_) [[unlikely]]
        show_result(op.node, outcome.value);
    if (op.unread) {
        detail::release(outcome.value);
        return true;
    }
    store_.put(op.node, outcome.value);
    if (op.makes_shared != 0) versions_[op.makes_shared - 1] = version_of(op.node);
    return true;
}

bool Run::call(const Program::Op& op, Frame& frame) {
    if (frame.wave != nullptr && must_stop(frame)) return false;
    if (frame.engine == nullptr) [[unlikely]]
        find_engine(frame);

    // What others read too is lent by its slot, which keeps it until all have: no count is touched.
    const bool several = op.read == Program::Op::several;
    const bool lent = !several && op.loan.part != Program::Loan::nothing;
    soma_value* input = several ? take_list(op.node) : lent ? store_.peek(op.read) : store_.take_out(op.read);
    soma_outcome outcome{sizeof(soma_outcome), SOMA_OUTCOME_DONE, nullptr, nullptr};
    const std::int64_t begin = observed_ ? now_ns() : 0;
    soma_status* status = forward(op, frame, input, outcome);
    const std::int64_t end = observed_ ? now_ns() : 0;
    const bool accepted = accept(op, frame, input, outcome, status);
    if (!lent) detail::release(input);
    if (observed_) [[unlikely]] {
        if (!observe(op, end - begin, accepted)) return false;
    }
    if (!accepted) [[unlikely]]
        return false;
    return stopped() ? fail_stopped(op, true) : true;
}

const Program::Op& Run::first_call(const Program::Op& op) const noexcept {
    const Program::Op* at = &op;
    while (at->wave != Program::Op::no_wave && at != &program_.ops.back()) ++at;
    return *at;
}

bool Run::sequence(std::uint32_t begin, std::uint32_t end, Frame& frame) {
    const Program::Op* const ops = program_.ops.data();
    // Asked once here, then after every node, which is before the next.
    if (begin < end && stopped() && !must_stop(frame)) [[unlikely]]
        return fail_stopped(first_call(ops[begin]), false);
    for (std::uint32_t i = begin; i < end; i = ops[i].next) {
        const Program::Op& op = ops[i];
        if (!(op.wave == Program::Op::no_wave ? call(op, frame) : wave(op, frame))) return false;
        if (op.checks_begin != op.checks_end && !check_shared(op)) return false;
    }
    return true;
}

Value Run::execute(const Value& input, const RunOptions& options, std::uint64_t run_id) {
    options_ = &options;
    failures_.clear();
    deadline_ns_ = deadline(options.timeout);
    run_id_ = run_id;
    const detail::Engine* engine = detail::engine_now();
    grad_ = engine == nullptr || engine->grad_enabled();
    seed_ = mix(run_id);
    const detail::RunContext* around = nullptr;
    outer_ = nullptr;
    lent_ = nullptr;
    if (inside != nullptr) {
        outer_ = inside->run;
        lent_ = inside->borrowed;
        around = inside->context;
        // A seed given to the outermost run settles the numbers of those within it; each of a node's runs has its own.
        seed_ = mix(around->ctx.seed + inside->runs++);
    }
    if (options.seed) seed_ = *options.seed;
    if (around != nullptr) {
        for (detail::RunContext& context : contexts_) context.outer = around;
    }
    keep_slots_.clear();
    kept_.assign(options.keep.size(), Value());
    for (const std::string& id : options.keep) {
        const auto at = std::find_if(nodes_.begin(), nodes_.end(),
                                     [&](const BoundNode& node) { return node.instance->id() == id; });
        keep_slots_.push_back(static_cast<std::uint32_t>(at - nodes_.begin()));
    }

    training_ = options.training;
    observed_ = options.report != nullptr || options.progress || !keep_slots_.empty();
    Frame frame;
    put_input(input);
    const bool done = guarded(0, static_cast<std::uint32_t>(program_.ops.size()), frame);
    state_.reset();
    if (around != nullptr) {
        // Gone when the node around is; a node that uses its context after its forward must not reach it.
        for (detail::RunContext& context : contexts_) context.outer = nullptr;
    }

    Value out;
    if (done) out = result();
    store_.clear();
    if (options.kept != nullptr) *options.kept = std::move(kept_);
    kept_.clear();
    std::stable_sort(failures_.begin(), failures_.end(),
                     [](const Failure& a, const Failure& b) { return a.order < b.order; });
    return out;
}

bool Run::accept_other(const Program::Op& op, soma_value* input, soma_outcome& outcome, soma_status* status) {
    const BoundNode& node = nodes_[op.node];
    const auto wrong = [&](const std::string& what) {
        return fail({order_of(op), op.node, false, wrong_message(node, what)});
    };
    if (status != nullptr) {
        if (stopped()) {
            detail::release_status(status);
            return fail_stopped(op, true);
        }
        return fail({order_of(op), op.node, false, status_message(node, status)});
    }
    const Value saved = Value::adopt(outcome.saved);
    const bool gave_value = outcome.value != nullptr;
    Value value = Value::adopt(outcome.value);
    if (outcome.kind != SOMA_OUTCOME_DONE) {
        return wrong(fmt::format("it returned an outcome of kind {}, which this host does not know", outcome.kind));
    }
    if (!gave_value) return wrong("it returned no value");
    try {
        if (node.has_backward) {
            if (soma_status* failed = attach_backward(node, input, saved, value)) return wrong(failed_text(failed));
        }
        Misplaced misplaced;
        if (node.placed && !is_on(value, node.place, misplaced)) {
            return fail({order_of(op), op.node, false, misplaced_message(node, misplaced)});
        }
    } catch (const std::exception& error) {
        return wrong(error.what());
    }
    outcome.value = value.release();
    return true;
}

void Run::show_result(std::uint32_t slot, soma_value* value) {
    if (options_->report != nullptr && slot < nodes_.size()) {
        (*options_->report)[slot].result = summary(Value::share(value));
    }
    for (std::size_t i = 0; i < keep_slots_.size(); ++i) {
        if (keep_slots_[i] == slot) kept_[i] = Value::share(value);
    }
}

std::uint64_t Run::version_of(std::uint32_t slot) const {
    const detail::Engine* engine = detail::engine_now();
    soma_value* value = store_.peek(slot);
    if (engine == nullptr || value->kind < SOMA_KIND_LIST) return 0;
    if (value->kind != SOMA_KIND_TENSOR) return version_of_all(value, *engine);
    std::uint64_t version = 0;
    engine->version(value->payload, &version);
    return version;
}

std::uint64_t Run::version_of_all(soma_value* value, const detail::Engine& engine) {
    std::vector<Value> tensors;
    collect_tensors(Value::share(value), tensors);
    std::uint64_t sum = 0;
    for (const Value& tensor : tensors) {
        std::uint64_t version = 0;
        engine.version(tensor.handle()->payload, &version);
        sum += version;
    }
    return sum;
}

bool Run::check_shared(const Program::Op& op) {
    bool intact = true;
    for (std::uint32_t i = op.checks_begin; i < op.checks_end; ++i) {
        const std::uint32_t shared = program_.checks[i];
        const Program::Shared& value = program_.shared[shared];
        if (intact && version_of(value.slot) != versions_[shared]) {
            std::vector<std::string> readers;
            for (const std::uint32_t node : value.readers) readers.push_back(nodes_[node].instance->id());
            intact = fail({2ULL * op.next - 1, value.readers.front(), false, modified_message(readers)});
        }
        if (!value.is_result) store_.drop(value.slot);
    }
    return intact;
}

bool Run::stopped_outside() const noexcept {
    for (const Run* run = outer_; run != nullptr; run = run->outer_) {
        if (run->stop_.load(std::memory_order_relaxed) != running) return true;
        if (run->deadline_ns_ != 0 && now_ns() >= run->deadline_ns_) return true;
    }
    return false;
}

bool Run::overdue() {
    if (now_ns() < deadline_ns_) return false;
    stop_.store(timed_out, std::memory_order_relaxed);
    return true;
}

bool Run::fail(Failure failure) {
    const std::lock_guard guard(mutex_);
    failures_.push_back(std::move(failure));
    return false;
}

bool Run::fail_stopped(const Program::Op& op, bool was_running) {
    const std::uint32_t node = op.node;
    std::string message =
        stop_.load(std::memory_order_relaxed) == timed_out
            ? fmt::format("run took longer than {:g} s", std::chrono::duration<double>(*options_->timeout).count())
            : std::string("run cancelled");
    const std::string& id = nodes_[node].instance->id();
    message +=
        was_running ? fmt::format(" while node `{}` was running", id) : fmt::format(" before node `{}` began", id);
    // What was running says more than what had not begun, so it sorts first.
    return fail({order_of(op) + (was_running ? 0 : 1ULL << 40), node, true, std::move(message)});
}

} // namespace soma::exec
