// Ends long work early, for example on Ctrl-C. Every thread polls the flag in its loops. Only the calling thread runs
// the callback that sets it, at most once per pause.
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <thread>
#include <utility>

namespace committee {

// Thrown by a poll when the work must end. A caller that can use partial results catches it.
struct Stopped {};

class Stop {
  public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds usual_pause{50};

    // A stop that is never requested.
    Stop() = default;

    // Calls `question` only on the thread that constructs this object, at most once per pause. Once it has returned
    // true, the stop stays requested.
    explicit Stop(std::function<bool()> question, Clock::duration pause = usual_pause)
        : question_(std::move(question)),
          caller_(std::this_thread::get_id()),
          pause_(pause),
          next_(Clock::now() + pause) {}

    Stop(const Stop&) = delete;
    Stop& operator=(const Stop&) = delete;

    bool is_wanted() const {
        if (is_wanted_.load(std::memory_order_relaxed)) return true;
        if (!question_ || std::this_thread::get_id() != caller_ || Clock::now() < next_) return false;
        const bool answer = question_();
        next_ = Clock::now() + pause_;
        if (answer) is_wanted_.store(true, std::memory_order_relaxed);
        return answer;
    }

    void poll() const {
        if (is_wanted()) throw Stopped{};
    }

    Clock::duration pause() const { return pause_; }

  private:
    mutable std::atomic<bool> is_wanted_{false};
    std::function<bool()> question_;
    std::thread::id caller_;
    Clock::duration pause_ = usual_pause;
    mutable Clock::time_point next_;  // used by the calling thread only
};

// Polls for loops whose iterations are too short for one poll each: it polls once per `values_between` values.
class Polls {
  public:
    static constexpr std::size_t values_between = std::size_t{1} << 18;

    explicit Polls(const Stop& stop) : stop_(&stop) {}

    void after(std::size_t n_values) {
        n_values_ += n_values;
        if (n_values_ < values_between) return;
        n_values_ = 0;
        stop_->poll();
    }

  private:
    const Stop* stop_;
    std::size_t n_values_ = 0;
};

}  // namespace committee
