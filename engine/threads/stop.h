// What ends long work before its time. Every thread polls it in its loops; the calling thread asks outside now and
// then.
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <thread>
#include <utility>

namespace committee {

// Thrown by a poll when the work is to end. Whoever can use what is done so far catches it.
struct Stopped {};

class Stop {
  public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds usual_pause{50};

    // Nobody wants to stop.
    Stop() = default;

    // `question` is asked on the thread that makes this object only, at most once in a pause. A yes is final.
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
    mutable Clock::time_point next_;  // the calling thread's
};

// Polls for one thread whose steps are too short for a poll in each: after so many values that were looked at.
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
