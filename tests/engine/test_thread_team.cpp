#include <atomic>
#include <stdexcept>
#include <string>

#include "check.h"
#include "thread_team.h"

using namespace committee;

namespace {

void every_task_runs_once() {
    for (const int n_threads : {-1, 0, 1, 3, 8}) {
        std::vector<std::atomic<int>> runs(1000);
        check(for_each_task(runs.size(), n_threads, {}, [&](std::size_t task, int) { ++runs[task]; }));
        for (const auto& count : runs) check(count == 1);
    }
}

void no_tasks_are_done_at_once() {
    check(for_each_task(0, 4, {}, [](std::size_t, int) { check(false); }));
}

void threads_are_numbered_and_no_more_than_the_tasks() {
    std::atomic<bool> in_range{true};
    for_each_task(2, 8, {}, [&](std::size_t, int thread) { in_range = in_range && thread >= 0 && thread < 2; });
    check(in_range);
}

void an_exception_is_carried_to_the_caller_and_ends_the_work() {
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

void a_question_answered_with_yes_stops_the_work() {
    std::atomic<int> n_run{0};
    int n_asked = 0;
    const bool ran_through =
        for_each_task(1000000, 2, [&] { return ++n_asked == 5; }, [&](std::size_t, int) { ++n_run; });
    check(!ran_through);
    check(n_asked == 5, "the caller alone is asked");
    check(n_run < 1000000);
}

}  // namespace

int main() {
    every_task_runs_once();
    no_tasks_are_done_at_once();
    threads_are_numbered_and_no_more_than_the_tasks();
    an_exception_is_carried_to_the_caller_and_ends_the_work();
    a_question_answered_with_yes_stops_the_work();
    return report();
}
