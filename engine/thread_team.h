// The only concurrency of the engine: threads that live as long as one call, so that nothing survives a fork.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace committee {

// Asked between two tasks, on the calling thread only; true stops the work.
using StopQuestion = std::function<bool()>;

// Runs body(task, thread) for every task in [0, n_tasks), tasks handed out in order to at most n_threads threads, the
// caller being thread 0. Returns false if `stop` ended the work early. The first exception of a body is rethrown here.
template <class Body>
bool for_each_task(std::size_t n_tasks, int n_threads, const StopQuestion& stop, Body body) {
    const auto n_workers = std::min(static_cast<std::size_t>(std::max(n_threads, 1)), n_tasks);
    std::atomic<std::size_t> next{0};
    std::atomic<bool> stopped{false};
    std::exception_ptr failure;
    std::mutex failure_mutex;

    auto work = [&](int thread) {
        try {
            while (!stopped.load(std::memory_order_relaxed)) {
                const std::size_t task = next.fetch_add(1, std::memory_order_relaxed);
                if (task >= n_tasks) break;
                body(task, thread);
                if (thread == 0 && stop && stop()) stopped.store(true, std::memory_order_relaxed);
            }
        } catch (...) {
            const std::lock_guard lock(failure_mutex);
            if (!failure) failure = std::current_exception();
            stopped.store(true, std::memory_order_relaxed);
        }
    };

    {
        std::vector<std::jthread> team;
        for (std::size_t thread = 1; thread < n_workers; ++thread) team.emplace_back(work, static_cast<int>(thread));
        if (n_workers > 0) work(0);
    }
    if (failure) std::rethrow_exception(failure);
    return !stopped.load();
}

}  // namespace committee
