// Collects results that threads finish in any order, and passes them on in the order of their tasks. Sums of
// floating-point results therefore do not depend on the timing of the threads.
#pragma once
#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace committee {

template <class Finished>
class InOrder {
  public:
    explicit InOrder(std::size_t n_tasks) : finished_(n_tasks) {}

    // Stores the result of a task. Then calls take(result) for every result whose predecessors have all been taken,
    // until take returns true, which means that no more results are needed. Returns the number of results taken so far.
    template <class Take>
    std::size_t put(std::size_t task, Finished own, Take take) {
        const std::lock_guard lock(mutex_);
        finished_[task] = std::move(own);
        while (n_taken_ < finished_.size() && finished_[n_taken_] && !is_enough()) {
            const bool is_last = take(*finished_[n_taken_]);
            finished_[n_taken_++].reset();
            if (is_last) is_enough_.store(true);
        }
        return n_taken_;
    }

    bool is_enough() const { return is_enough_.load(std::memory_order_relaxed); }
    std::size_t size() const { return finished_.size(); }

  private:
    std::mutex mutex_;
    std::vector<std::optional<Finished>> finished_;
    std::size_t n_taken_ = 0;
    std::atomic<bool> is_enough_{false};
};

}  // namespace committee
