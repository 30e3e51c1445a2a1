// Connects the engine's stop with Python: Ctrl-C, other requests to end a call, and progress hooks.
#pragma once
#include <nanobind/nanobind.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

#include "threads/stop.h"

namespace committee {

namespace nb = nanobind;

// Construct with the GIL held, on the thread that makes the call.
class Interruption {
  public:
    Interruption() : stop_([this] { return is_stop_requested(); }) {}
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;

    // Runs work(stop) without the GIL. If it was stopped, raises the exception that stopped it.
    template <class Work>
    auto run(Work work) {
        try {
            const nb::gil_scoped_release release;
            return work(stop_);
        } catch (const Stopped&) {
            throw std::move(error_).value();
        }
    }

    // Calls call() with the GIL. Returns whether the work must end, because call() returned true or raised an
    // exception.
    template <class Call>
    bool call_python(Call call) {
        const nb::gil_scoped_acquire acquire;
        try {
            const nb::object answer = call();
            const int is_true = PyObject_IsTrue(answer.ptr());
            if (is_true < 0) nb::raise_python_error();
            return is_true != 0;
        } catch (nb::python_error& error) {
            error_.emplace(std::move(error));
            return true;
        }
    }

    // The exception that ended the work, or None. For calls that also return partial results.
    nb::object error() const { return error_ ? nb::borrow(error_->value()) : nb::none(); }

  private:
    bool is_stop_requested() {
        return call_python([] {
            if (PyErr_CheckSignals() != 0) nb::raise_python_error();
            return nb::object(nb::module_::import_("committee.running.deadline").attr("check")());
        });
    }

    Stop stop_;
    std::optional<nb::python_error> error_;
};

// Binds the result of a long call. Result must have the attribute `interruption`, the exception that ended the call or
// None. The traceback of an exception may refer back to the result, so Python's garbage collector must be able to
// traverse it.
template <class Result>
nb::class_<Result> bind_result(nb::module_& m, const char* name, const char* text) {
    static PyType_Slot slots[] = {
        {Py_tp_traverse, reinterpret_cast<void*>(+[](PyObject* self, visitproc visit, void* arg) {
             Py_VISIT(Py_TYPE(self));
             if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<Result>(self)->interruption.ptr());
             return 0;
         })},
        {Py_tp_clear, reinterpret_cast<void*>(+[](PyObject* self) {
             nb::inst_ptr<Result>(self)->interruption = nb::none();
             return 0;
         })},
        {0, nullptr}};
    return nb::class_<Result>(m, name, nb::type_slots(slots), text).def_ro("interruption", &Result::interruption);
}

// Wraps a Python hook that takes the number of finished parts. Returns an empty function if the hook is None.
inline std::function<bool(std::size_t)> counting_hook(Interruption& interruption, const nb::object& hook) {
    if (hook.is_none()) return {};
    return
        [&interruption, &hook](std::size_t n_done) { return interruption.call_python([&] { return hook(n_done); }); };
}

}  // namespace committee
