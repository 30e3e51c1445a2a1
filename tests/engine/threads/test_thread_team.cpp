#include <pthread.h>

#include <atomic>
#include <stdexcept>
#include <string>

#include "check.h"
#include "threads/thread_team.h"

using namespace committee;

namespace {

void every_task_runs_once() {
    for (const int n_threads : {-1, 0, 1, 3, 8}) {
        std::vector<std::atomic<int>> runs(1000);
        for_each_task(runs.size(), n_threads, {}, [&](std::size_t task, int) { ++runs[task]; });
        for (const auto& count : runs) check(count == 1);
    }
}

void zero_tasks_need_no_thread() {
    for_each_task(0, 4, {}, [](std::size_t, int) { check(false); });
}

void threads_are_numbered_and_no_more_than_the_tasks() {
    std::atomic<bool> in_range{true};
    for_each_task(2, 8, {}, [&](std::size_t, int thread) { in_range = in_range && thread >= 0 && thread < 2; });
    check(in_range);
}

void an_exception_reaches_the_caller_and_ends_the_work() {
    for (const int n_threads : {1, 4}) {
        std::atomic<int> n_run{0};
        std::string message;
        try {
            for_each_task(1000000, n_threads, {}, [&](std::size_t task, int) {
                ++n_run;
                if (task == 10) throw std::runtime_error("ten");
            });
        } catch (const std::runtime_error& error) {
            message = error.what();
        }
        check(message == "ten");
        check(n_run < 1000000);
    }
}

void a_stop_ends_the_work() {
    std::atomic<int> n_run{0};
    int n_asked = 0;
    const Stop stop([&] { return ++n_asked == 5; }, {});
    bool is_stopped = false;
    try {
        for_each_task(1000000, 2, stop, [&](std::size_t, int) { ++n_run; });
    } catch (const Stopped&) {
        is_stopped = true;
    }
    check(is_stopped);
    check(n_asked == 5, "only the caller runs the callback, and never again after it has returned true");
    check(n_run < 1000000);
}

void the_caller_runs_the_callback_while_others_work() {
    // The other thread works until the stop is requested, when the caller has run out of tasks.
    for (const bool by_team : {false, true}) {
        const auto caller = std::this_thread::get_id();
        std::atomic<bool> is_elsewhere{false};
        int n_asked = 0;
        const Stop stop([&] { return is_elsewhere && ++n_asked == 3; }, std::chrono::milliseconds(1));
        const auto body = [&](std::size_t, int) {
            if (std::this_thread::get_id() == caller) {
                while (!is_elsewhere) std::this_thread::yield();
                return;
            }
            is_elsewhere = true;
            for (;;) stop.poll();
        };
        bool is_stopped = false;
        try {
            ThreadTeam team(2, &stop);
            if (by_team) {
                team.run(2, body);
            } else {
                for_each_task(2, 2, stop, body);
            }
        } catch (const Stopped&) {
            is_stopped = true;
        }
        check(is_stopped);
        check(n_asked == 3);
    }
}

void a_team_runs_every_task_of_every_batch_once() {
    for (const int n_threads : {1, 2, 5}) {
        ThreadTeam team(n_threads);
        check(team.size() == n_threads);
        std::vector<std::atomic<int>> runs(300);
        for (int piece = 0; piece < 200; ++piece) {
            team.run(static_cast<std::size_t>(piece % 7), [&](std::size_t task, int thread) {
                check(thread >= 0 && thread < n_threads);
                ++runs[task];
            });
        }
        team.run(100'000, [&](std::size_t task, int) { ++runs[200 + task % 100]; });
        int n_run = 0;
        for (std::size_t i = 0; i < 6; ++i) n_run += runs[i];
        check(n_run == 28 * 21 + 6, "28 rounds of 0 to 6 tasks, and then 0 to 3");
        for (std::size_t i = 200; i < 300; ++i) check(runs[i] == 1000);
    }
}

void a_team_rethrows_an_exception_and_can_be_used_again() {
    ThreadTeam team(3);
    for (int piece = 0; piece < 20; ++piece) {
        bool is_caught = false;
        try {
            team.run(10, [&](std::size_t task, int) {
                if (task == 4) throw std::runtime_error("four");
            });
        } catch (const std::runtime_error&) {
            is_caught = true;
        }
        check(is_caught);
        std::atomic<int> n_run{0};
        team.run(10, [&](std::size_t, int) { ++n_run; });
        check(n_run == 10);
    }
}

#ifdef __GLIBC__
// While it exists, new threads request more stack than there is address space.
class NoMoreThreads {
  public:
    NoMoreThreads() {
        pthread_getattr_default_np(&usual_);
        pthread_attr_t huge = usual_;
        pthread_attr_setstacksize(&huge, std::size_t{1} << 50);
        pthread_setattr_default_np(&huge);
    }
    NoMoreThreads(const NoMoreThreads&) = delete;
    NoMoreThreads& operator=(const NoMoreThreads&) = delete;
    ~NoMoreThreads() { pthread_setattr_default_np(&usual_); }

  private:
    pthread_attr_t usual_{};
};

void work_is_done_if_no_thread_can_be_started() {
    const NoMoreThreads refusal;
    std::atomic<int> n_run{0};
    for_each_task(100, 4, {}, [&](std::size_t, int) { ++n_run; });
    check(n_run == 100);
    ThreadTeam team(4);
    check(team.size() == 1);
    team.run(100, [&](std::size_t, int) { ++n_run; });
    check(n_run == 200);
}
#else
void work_is_done_if_no_thread_can_be_started() {}
#endif

}  // namespace

int main() {
    work_is_done_if_no_thread_can_be_started();
    a_team_runs_every_task_of_every_batch_once();
    a_team_rethrows_an_exception_and_can_be_used_again();
    every_task_runs_once();
    zero_tasks_need_no_thread();
    threads_are_numbered_and_no_more_than_the_tasks();
    an_exception_reaches_the_caller_and_ends_the_work();
    a_stop_ends_the_work();
    the_caller_runs_the_callback_while_others_work();
    return report();
}
