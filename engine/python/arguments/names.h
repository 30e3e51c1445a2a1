// Enums of the engine, which Python refers to by name.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

#include "prediction/prediction.h"
#include "tree/node_statistics.h"

namespace committee {

namespace nb = nanobind;

// If a value has several names, Python gets the first one.
template <class Value, std::size_t n>
struct Names {
    const char* thing;
    std::array<std::pair<const char*, Value>, n> all;

    Value value(const std::string& name) const {
        for (const auto& [known, value] : all) {
            if (name == known) return value;
        }
        throw std::invalid_argument("Unknown " + std::string(thing) + " '" + name + "'.");
    }
    const char* name(Value value) const {
        for (const auto& [name, known] : all) {
            if (value == known) return name;
        }
        throw std::invalid_argument("A " + std::string(thing) + " has no name.");
    }
};

// Binds a data member as an attribute that holds the name of its value.
template <class Class, class Value, std::size_t n>
void def_named(nb::class_<Class>& bound, const char* attribute, Value Class::* member, const Names<Value, n>& names) {
    bound.def_prop_rw(
        attribute, [member, &names](const Class& object) { return names.name(object.*member); },
        [member, &names](Class& object, const std::string& name) { object.*member = names.value(name); });
}

inline constexpr Names<Criterion, 8> criteria{"criterion",
                                              {{{"gini", Criterion::gini},
                                                {"entropy", Criterion::entropy},
                                                {"log_loss", Criterion::entropy},
                                                {"gain_ratio", Criterion::gain_ratio},
                                                {"error", Criterion::error},
                                                {"squared_error", Criterion::squared_error},
                                                {"poisson", Criterion::poisson},
                                                {"absolute_error", Criterion::absolute_error}}}};

inline constexpr Names<Rule, 2> rules{"rule", {{{"mean", Rule::mean}, {"majority", Rule::majority}}}};

}  // namespace committee
