#include "adaboost/adaboost.h"

#include <nanobind/stl/tuple.h>

#include <string>
#include <tuple>

#include "python/arguments/arrays.h"
#include "python/arguments/c45.h"
#include "python/arguments/names.h"
#include "python/arguments/stop.h"
#include "python/arguments/targets.h"

namespace committee {
namespace {

constexpr Names<Scheme, 4> schemes{
    "scheme", {{{"m1", Scheme::m1}, {"samme", Scheme::samme}, {"m2", Scheme::m2}, {"r2", Scheme::r2}}}};
constexpr Names<RowLoss, 3> row_losses{
    "loss", {{{"linear", RowLoss::linear}, {"square", RowLoss::square}, {"exponential", RowLoss::exponential}}}};

Link link_named(const std::string& name) {
    if (name == "mean") return Link::mean;
    if (name == "share") return Link::share;
    if (name == "softmax_of_shares") return Link::softmax_of_shares;
    throw std::invalid_argument("AdaBoost does not support the link '" + name + "'.");
}

struct AdaBoostedObjects {
    nb::object members, errors, votes, importances, weights, units;
    bool is_over;
    nb::object interruption;
};

// c45: None, or numeric and categorical columns and n_categories, to grow C4.5 trees.
AdaBoostedObjects boost(const Table& table, AnyArray y, std::uint32_t n_classes, Vector<std::uint32_t> counts,
                        Vector<double> units, AdaBoostParameters parameters, const nb::object& c45, nb::object progress,
                        int n_threads) {
    check_directions(parameters.member.grow, table.n_columns());
    const std::size_t n_rows = table.n_rows();
    const std::size_t width = parameters.scheme == Scheme::m2 ? n_classes - std::size_t{1} : 1;
    if (y.ndim() != 1 || y.shape(0) != n_rows || counts.size() != n_rows || units.size() != n_rows * width) {
        throw std::invalid_argument("The target and the weights must have values for every row of the table.");
    }
    if ((parameters.scheme == Scheme::r2) != (n_classes == 0) || (parameters.scheme == Scheme::m2 && n_classes < 2)) {
        throw std::invalid_argument("The scheme does not fit the target.");
    }
    if (!c45.is_none()) {
        if (element_type(y.dtype()) != ElementType::i32 || y.stride(0) != 1) {
            throw std::invalid_argument("Labels must be contiguous 32-bit integers.");
        }
        const auto [columns, n_categories] = nb::cast<std::tuple<nb::list, Vector<std::int32_t>>>(c45);
        const std::span<const std::int32_t> classes(static_cast<const std::int32_t*>(y.data()), n_rows);
        parameters.member.c45 = read_c45_table(columns, n_categories, classes, static_cast<std::int32_t>(n_classes));
        check_settings(parameters.member.c45_settings);
    }
    // The weights of a round sum to less than 2^30, or slightly more because small ones are rounded up.
    const Target target = read_target(y, n_classes, as_span(counts), (std::uint64_t{1} << 30) - 1,
                                      parameters.member.grow.criterion == Criterion::poisson);
    const std::span<const double> numbers(static_cast<const double*>(n_classes == 0 ? y.data() : nullptr),
                                          n_classes == 0 ? n_rows : 0);
    Distribution distribution{{counts.data(), counts.data() + counts.size()},
                              {units.data(), units.data() + units.size()}};

    Interruption interruption;
    const auto after_round = counting_hook(interruption, progress);
    AdaBoosted boosted = interruption.run([&](const Stop& stop) {
        return boost_adaptively(table, target, numbers, std::move(distribution), parameters, n_threads, after_round,
                                stop);
    });
    const std::size_t n_members = boosted.errors.size();
    return {
        .members = c45.is_none() ? nb::cast(std::move(boosted.members)) : nb::cast(std::move(boosted.c45_members)),
        .errors = to_numpy(std::move(boosted.errors)),
        .votes = to_numpy(std::move(boosted.votes)),
        .importances = to_numpy(std::move(boosted.importances), {n_members, table.n_columns()}),
        .weights = parameters.keep_weights ? to_numpy(std::move(boosted.weights), {n_members, n_rows}) : nb::none(),
        .units = width == 1 ? to_numpy(std::move(boosted.units)) : to_numpy(std::move(boosted.units), {n_rows, width}),
        .is_over = boosted.is_over,
        .interruption = interruption.error()};
}

template <class Trees>
Trees weighed(const Trees& members, Vector<double> votes, bool are_crisp, const std::string& link, double scale) {
    if (votes.size() != members.trees.size() || members.link != Link::mean) {
        throw std::invalid_argument("There must be one vote per member, and the members must not be weighted yet.");
    }
    const Link chosen = link_named(link);
    const nb::gil_scoped_release release;
    return weigh_votes(members, as_span(votes), are_crisp, chosen, scale);
}

}  // namespace

void register_adaboost(nb::module_& m) {
    nb::class_<MemberParameters>(m, "MemberParameters", "Parameters of a member of AdaBoost.")
        .def_rw("resample", &MemberParameters::resample)
        .def_rw("is_stump", &MemberParameters::is_stump)
        .def_rw("grow", &MemberParameters::grow)
        .def_rw("ccp_alpha", &MemberParameters::ccp_alpha)
        .def_rw("c45_settings", &MemberParameters::c45_settings);
    auto parameters = nb::class_<AdaBoostParameters>(m, "AdaBoostParameters", "Parameters of AdaBoost.")
                          .def(nb::init<>())
                          .def_rw("learning_rate", &AdaBoostParameters::learning_rate)
                          .def_rw("negative_votes", &AdaBoostParameters::negative_votes)
                          .def_rw("member", &AdaBoostParameters::member)
                          .def_rw("first_round", &AdaBoostParameters::first_round)
                          .def_rw("n_rounds", &AdaBoostParameters::n_rounds)
                          .def_rw("seed", &AdaBoostParameters::seed)
                          .def_rw("keep_weights", &AdaBoostParameters::keep_weights);
    def_named(parameters, "scheme", &AdaBoostParameters::scheme, schemes);
    def_named(parameters, "loss", &AdaBoostParameters::loss, row_losses);
    bind_result<AdaBoostedObjects>(m, "AdaBoosted", "The result of boost_adaptively.")
        .def_ro("members", &AdaBoostedObjects::members)
        .def_ro("errors", &AdaBoostedObjects::errors)
        .def_ro("votes", &AdaBoostedObjects::votes)
        .def_ro("importances", &AdaBoostedObjects::importances)
        .def_ro("weights", &AdaBoostedObjects::weights)
        .def_ro("units", &AdaBoostedObjects::units)
        .def_ro("is_over", &AdaBoostedObjects::is_over);
    m.def("boost_adaptively", &boost, nb::arg("table"), nb::arg("y"), nb::arg("n_classes"), nb::arg("counts"),
          nb::arg("units"), nb::arg("parameters"), nb::arg("c45").none(), nb::arg("progress").none(),
          nb::arg("n_threads"));
    m.def("weigh_votes", &weighed<Forest>, nb::arg("members"), nb::arg("votes"), nb::arg("are_crisp"), nb::arg("link"),
          nb::arg("scale"));
    m.def("weigh_votes", &weighed<C45Forest>, nb::arg("members"), nb::arg("votes"), nb::arg("are_crisp"),
          nb::arg("link"), nb::arg("scale"));
}

}  // namespace committee
