// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "place.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

/// Nodes that meet, wait, fail and remember the order they ran in.
namespace probe {

using Seconds = std::chrono::duration<double>;

inline std::chrono::steady_clock::time_point after(double seconds) {
    return std::chrono::steady_clock::now() +
           std::chrono::duration_cast<std::chrono::steady_clock::duration>(Seconds{seconds});
}

/// Meets the other nodes with the same key: gives its thread once `parties` of them are inside.
class Barrier : public Node {
public:
    static NodeType describe() {
        return NodeType{"probe.barrier"}
            .doc("Waits until all parties are there.")
            .config(String("key").defaults("barrier"))
            .config(Int("parties").defaults(2).min(1))
            .config(Float("seconds").defaults(20.0))
            .reentrant();
    }
    explicit Barrier(const Create& create)
        : Node{create}, meeting_{meeting(create.config().get_string("key"))},
          parties_{create.config().get_int("parties")}, seconds_{create.config().get_float("seconds")} {}

    Value forward(const Ctx&, const Value&) {
        std::unique_lock<std::mutex> lock{meeting_.mutex};
        const std::int64_t round = meeting_.round;
        if (++meeting_.inside == parties_) {
            meeting_.inside = 0;
            ++meeting_.round;
            meeting_.changed.notify_all();
            return thread();
        }
        if (!meeting_.changed.wait_until(lock, after(seconds_), [&] { return meeting_.round != round; })) {
            const std::int64_t came = meeting_.inside--;
            throw Error{Code::deadline_exceeded,
                        "of " + std::to_string(parties_) + " parties " + std::to_string(came) + " came to the barrier"};
        }
        return thread();
    }

private:
    struct Meeting {
        std::mutex mutex;
        std::condition_variable changed;
        std::int64_t inside = 0;
        std::int64_t round = 0;
    };
    static Meeting& meeting(const std::string& key) {
        static std::mutex mutex;
        static std::map<std::string, Meeting> meetings;
        const std::lock_guard<std::mutex> lock{mutex};
        return meetings[key];
    }

    Meeting& meeting_;
    std::int64_t parties_;
    double seconds_;
};

/// Sleeps; gives its input. Stops early when the run is cancelled, unless it is deaf.
class Sleep : public Node {
public:
    static NodeType describe() {
        return NodeType{"probe.sleep"}
            .doc("Sleeps.")
            .config(Float("seconds").defaults(0.01))
            .config(Bool("deaf").defaults(false).doc("It never asks whether the run was cancelled."))
            .reentrant();
    }
    explicit Sleep(const Create& create)
        : Node{create}, seconds_{create.config().get_float("seconds")}, deaf_{create.config().get_bool("deaf")} {}
    Value forward(const Ctx& ctx, Value input) {
        const auto end = after(seconds_);
        while (std::chrono::steady_clock::now() < end) {
            if (!deaf_) ctx.stop_if_cancelled();
            std::this_thread::sleep_for(std::chrono::microseconds{500});
        }
        return input;
    }

private:
    double seconds_;
    bool deaf_;
};

struct Unlikely {};

/// Fails after a while, in the way `how` says.
class Fail : public Node {
public:
    static NodeType describe() {
        return NodeType{"probe.fail"}
            .doc("Fails.")
            .config(String("how").defaults("exception").choices({"exception", "int", "struct", "error", "memory"}))
            .config(String("text").defaults("the lamp went out"))
            .config(Float("after").defaults(0.0))
            .reentrant();
    }
    explicit Fail(const Create& create)
        : Node{create}, how_{create.config().get_string("how")}, text_{create.config().get_string("text")},
          after_{create.config().get_float("after")} {}
    Value forward(const Ctx&, const Value&) {
        std::this_thread::sleep_for(Seconds{after_});
        if (how_ == "int") throw 42;
        if (how_ == "struct") throw Unlikely{};
        if (how_ == "error") throw Error{Code::unavailable, text_};
        if (how_ == "memory") throw std::bad_alloc{};
        throw std::runtime_error{text_};
    }

private:
    std::string how_;
    std::string text_;
    double after_;
};

/// Fails when it cannot be made.
class Unborn : public Node {
public:
    static NodeType describe() { return NodeType{"probe.unborn"}.doc("Cannot be made."); }
    explicit Unborn(const Create& create) : Node{create} { throw Error{Code::unavailable, "there is no clay"}; }
    Value forward(const Ctx&, Value input) { return input; }
};

/// Not re-entrant: fails when it is entered while it is inside. Gives how often it was entered so far.
class Solo : public Node {
public:
    static NodeType describe() {
        return NodeType{"probe.solo"}.doc("Notices company.").config(Float("seconds").defaults(0.0005));
    }
    explicit Solo(const Create& create) : Node{create}, seconds_{create.config().get_float("seconds")} {}
    Value forward(const Ctx&, const Value&) {
        if (inside_.fetch_add(1) != 0) throw Error{Code::internal, "it was entered twice at once"};
        std::this_thread::sleep_for(Seconds{seconds_});
        const std::int64_t entered = ++entered_; // not atomic on purpose: the host is what keeps it whole
        inside_.fetch_sub(1);
        return entered;
    }

private:
    double seconds_;
    std::atomic<int> inside_{0};
    std::int64_t entered_ = 0;
};

/// Writes its id into the diary of that key and gives its input; with `read` it gives the diary, and empties it.
class Trace : public Node {
public:
    static NodeType describe() {
        return NodeType{"probe.trace"}
            .doc("Keeps a diary.")
            .config(String("key").defaults("diary"))
            .config(Bool("read").defaults(false))
            .reentrant();
    }
    explicit Trace(const Create& create)
        : Node{create}, key_{create.config().get_string("key")}, read_{create.config().get_bool("read")} {}
    Value forward(const Ctx& ctx, Value input) {
        static std::mutex mutex;
        static std::map<std::string, std::vector<std::string>> diaries;
        const std::lock_guard<std::mutex> lock{mutex};
        if (read_) return Value{std::exchange(diaries[key_], {})};
        diaries[key_].emplace_back(ctx.node_id());
        return input;
    }

private:
    std::string key_;
    bool read_;
};

/// Something that is counted while it lives.
struct Counted {
    static constexpr const char* type_id = "probe.counted/1";
    static std::atomic<std::int64_t>& alive() {
        static std::atomic<std::int64_t> count{0};
        return count;
    }
    Counted() { ++alive(); }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    ~Counted() { --alive(); }
};

/// A fresh counted value; with `count` the number of those alive.
class Count : public Node {
public:
    static NodeType describe() {
        return NodeType{"probe.counted"}.doc("Counts values.").config(Bool("count").defaults(false)).reentrant();
    }
    explicit Count(const Create& create) : Node{create}, count_{create.config().get_bool("count")} {}
    Value forward(const Ctx&, const Value&) {
        if (count_) return Counted::alive().load();
        return Opaque<Counted>::make();
    }

private:
    bool count_;
};

} // namespace probe
