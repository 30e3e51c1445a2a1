// Defines the module with one register function per file. Python owns names, checks and messages.
#include <nanobind/nanobind.h>

namespace committee {
void register_adaboost(nanobind::module_& m);
void register_boost(nanobind::module_& m);
void register_c45(nanobind::module_& m);
void register_c45_forest(nanobind::module_& m);
void register_explaining(nanobind::module_& m);
void register_neighbours(nanobind::module_& m);
void register_network(nanobind::module_& m);
void register_rotate(nanobind::module_& m);
void register_table(nanobind::module_& m);
void register_forest(nanobind::module_& m);
void register_trees(nanobind::module_& m);
}  // namespace committee

NB_MODULE(_engine, m) {
    m.doc() = "The compiled engine of committee. Private: use the package.";
    // Objects that live until the process ends are held by other libraries, such as callbacks in a cache of
    // scikit-learn. Warnings about them would confuse users.
    nanobind::set_leak_warnings(false);
    committee::register_c45(m);
    committee::register_table(m);
    committee::register_forest(m);
    committee::register_trees(m);
    committee::register_c45_forest(m);
    committee::register_boost(m);
    committee::register_adaboost(m);
    committee::register_neighbours(m);
    committee::register_network(m);
    committee::register_rotate(m);
    committee::register_explaining(m);
}
