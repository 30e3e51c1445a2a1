// The engine's only threads. They live no longer than one call, so a process can fork between calls.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "threads/stop.h"

namespace committee {

// Starts serve(1), ..., serve(n) on new threads. If the system refuses to start more threads, the ones already
// started do all the work.
template <class Serve>
void start_threads(int n, Serve serve, std::vector<std::jthread>& threads) {
    try {
        for (int thread = 1; thread <= n; ++thread) threads.emplace_back(serve, thread);
    } catch (const std::system_error&) {
        return;
    }
}

// Runs body(task, thread) for every task in [0, n_tasks) on at most n_threads threads. Tasks start in order, and the
// caller is thread 0. Every thread polls `stop` before each task. Rethrows the first exception of a body or a poll.
template <class Body>
void for_each_task(std::size_t n_tasks, int n_threads, const Stop& stop, Body body) {
    const auto n_workers = std::min(static_cast<std::size_t>(std::max(n_threads, 1)), n_tasks);
    std::atomic<std::size_t> next{0};
    std::atomic<bool> has_failed{false};
    std::exception_ptr failure;
    std::size_t n_busy = n_workers;
    std::mutex mutex;  // guards failure and n_busy
    std::condition_variable all_are_done;

    auto work = [&](int thread) {
        std::exception_ptr own;
        try {
            while (!has_failed.load(std::memory_order_relaxed)) {
                const std::size_t task = next.fetch_add(1, std::memory_order_relaxed);
                if (task >= n_tasks) break;
                stop.poll();
                body(task, thread);
            }
        } catch (...) {
            own = std::current_exception();
            has_failed.store(true, std::memory_order_relaxed);
        }
        const std::lock_guard lock(mutex);
        if (own && !failure) failure = own;
        if (--n_busy == 0) all_are_done.notify_one();
    };

    if (n_workers > 0) {
        std::vector<std::jthread> team;
        start_threads(static_cast<int>(n_workers) - 1, work, team);
        {
            const std::lock_guard lock(mutex);
            n_busy -= n_workers - 1 - team.size();
        }
        work(0);
        // Only the calling thread can run the stop's callback, so it keeps checking while the other threads finish.
        std::unique_lock lock(mutex);
        while (!all_are_done.wait_for(lock, stop.pause(), [&] { return n_busy == 0; })) stop.is_wanted();
    }
    if (failure) std::rethrow_exception(failure);
}

// Threads for many short batches of tasks in a row. Between two batches the threads spin for some microseconds and then
// sleep. A thread that wakes up late may find that the others have finished the batch.
class ThreadTeam {
  public:
    // While the calling thread waits for the others, it checks `stop` if one is passed. The bodies must poll it
    // themselves.
    explicit ThreadTeam(int n_threads, const Stop* stop = nullptr) : stop_(stop) {
        start_threads(n_threads - 1, [this](int thread) { serve(thread); }, workers_);
    }
    ThreadTeam(const ThreadTeam&) = delete;
    ThreadTeam& operator=(const ThreadTeam&) = delete;
    ~ThreadTeam() {
        is_over_.store(true);
        announce(0);
    }

    int size() const { return static_cast<int>(workers_.size()) + 1; }
    const Stop& stop() const { return stop_ == nullptr ? never_ : *stop_; }

    // Runs body(task, thread) for every task in [0, n_tasks); the caller is thread 0. Rethrows the first exception of a
    // body after all other tasks have finished.
    template <class Body>
    void run(std::size_t n_tasks, Body&& body) {
        if (workers_.empty() || n_tasks <= 1) {
            for (std::size_t task = 0; task < n_tasks; ++task) body(task, 0);
            return;
        }
        for (std::size_t begin = 0; begin < n_tasks; begin += most_tasks) {
            auto part = [&](std::size_t task, int thread) { body(begin + task, thread); };
            run_part(static_cast<std::uint32_t>(std::min(n_tasks - begin, most_tasks)), part);
        }
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }

  private:
    static constexpr std::size_t most_tasks = 65535;
    static constexpr std::chrono::microseconds patience{50};

    // A ticket packs the number of the current batch (32 bits), its number of tasks (16) and its next task (16). One
    // atomic exchange takes a task, and it fails if the batch has changed.
    static std::uint32_t taken(std::uint64_t ticket) { return static_cast<std::uint32_t>(ticket) & 0xffffU; }
    static std::uint32_t of_all(std::uint64_t ticket) { return static_cast<std::uint32_t>(ticket) >> 16; }

    template <class Part>
    void run_part(std::uint32_t n_tasks, Part& part) {
        part_ = &part;
        call_ = [](void* what, std::size_t task, int thread) { (*static_cast<Part*>(what))(task, thread); };
        n_done_.store(0, std::memory_order_relaxed);
        announce(n_tasks);
        take_tasks(0);
        const auto is_done = [&] { return n_done_.load(std::memory_order_acquire) == n_tasks; };
        if (spin_until(is_done)) return;
        std::unique_lock lock(mutex_);
        while (!all_are_done_.wait_for(lock, stop().pause(), is_done)) stop().is_wanted();
    }

    void announce(std::uint32_t n_tasks) {
        const std::uint32_t number = number_.load(std::memory_order_relaxed) + 1;
        ticket_.store((std::uint64_t{number} << 32) | (std::uint64_t{n_tasks} << 16), std::memory_order_release);
        number_.store(number);
        number_.notify_all();
    }

    void take_tasks(int thread) {
        std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
        while (taken(ticket) < of_all(ticket)) {
            if (!ticket_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel)) continue;
            const std::uint32_t n_tasks = of_all(ticket);
            try {
                call_(part_, taken(ticket), thread);
            } catch (...) {
                const std::lock_guard lock(mutex_);
                if (!failure_) failure_ = std::current_exception();
            }
            if (n_done_.fetch_add(1, std::memory_order_acq_rel) + 1 == n_tasks) {
                // A waiting thread checks the condition while it holds the mutex. Locking the mutex here makes sure
                // that the thread is already waiting, or will see that the batch is done.
                {
                    const std::lock_guard lock(mutex_);
                }
                all_are_done_.notify_one();
            }
            ticket = ticket_.load(std::memory_order_acquire);
        }
    }

    void serve(int thread) {
        std::uint32_t seen = 0;
        while (!is_over_.load()) {
            spin_until([&] { return number_.load(std::memory_order_acquire) != seen; });
            number_.wait(seen);
            seen = number_.load(std::memory_order_acquire);
            take_tasks(thread);
        }
    }

    // Spins for a limited time. Returns whether the condition became true.
    template <class Come>
    static bool spin_until(Come come) {
        const auto end = std::chrono::steady_clock::now() + patience;
        do {
            for (int i = 0; i < 32; ++i) {
                if (come()) return true;
            }
        } while (std::chrono::steady_clock::now() < end);
        return false;
    }

    const Stop* stop_;
    Stop never_;
    std::atomic<std::uint64_t> ticket_{0};
    std::atomic<std::uint32_t> number_{0};
    std::atomic<std::uint32_t> n_done_{0};
    std::atomic<bool> is_over_{false};
    void* part_ = nullptr;
    void (*call_)(void*, std::size_t, int) = nullptr;
    std::exception_ptr failure_;
    std::mutex mutex_;  // guards failure_; all_are_done_ waits on it
    std::condition_variable all_are_done_;
    std::vector<std::jthread> workers_;
};

// Calls body(block, begin, end) for blocks of `size` rows. Task t of a team of n threads runs the blocks t, t + n, ...
template <class Body>
void run_in_blocks(ThreadTeam& team, std::size_t n_rows, std::size_t size, Body body) {
    const std::size_t n_blocks = (n_rows + size - 1) / size;
    const auto n_tasks = std::min(n_blocks, static_cast<std::size_t>(team.size()));
    team.run(n_tasks, [&](std::size_t task, int) {
        for (std::size_t block = task; block < n_blocks; block += n_tasks) {
            body(block, block * size, std::min(n_rows, (block + 1) * size));
        }
    });
}

}  // namespace committee
