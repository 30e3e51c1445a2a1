#include "growing/tree_growth.h"

#include <memory>
#include <variant>

#include "growing/tree_grower.h"

namespace committee {
namespace {

template <class Code, class Stat, Criterion criterion>
GrowTree grower_of(const Table& table, const Target& target, const GrowParameters& parameters, const Stop& stop) {
    auto grower = std::make_shared<Grower<Code, Stat, criterion>>(table, target, parameters, stop);
    return [grower](const SeenRows& seen, std::uint64_t key, const SeenColumns& columns) {
        return grower->grow(seen, key, columns);
    };
}

template <class Code, class Stat>
GrowTree classes_grower(const Table& table, const Target& target, const GrowParameters& parameters, const Stop& stop) {
    switch (parameters.criterion) {
        case Criterion::entropy:
            return grower_of<Code, Stat, Criterion::entropy>(table, target, parameters, stop);
        case Criterion::gain_ratio:
            return grower_of<Code, Stat, Criterion::gain_ratio>(table, target, parameters, stop);
        case Criterion::error:
            return grower_of<Code, Stat, Criterion::error>(table, target, parameters, stop);
        default:
            return grower_of<Code, Stat, Criterion::gini>(table, target, parameters, stop);
    }
}

template <class Code>
GrowTree grower_for(const Table& table, const Target& target, const GrowParameters& parameters, const Stop& stop) {
    if (parameters.criterion == Criterion::absolute_error) {
        return grower_of<Code, ManyClasses, Criterion::absolute_error>(table, target, parameters, stop);
    }
    if (target.n_classes == 0) {
        return parameters.criterion == Criterion::poisson
                   ? grower_of<Code, Mean, Criterion::poisson>(table, target, parameters, stop)
                   : grower_of<Code, Mean, Criterion::squared_error>(table, target, parameters, stop);
    }
    return target.n_classes == 2 ? classes_grower<Code, TwoClasses>(table, target, parameters, stop)
                                 : classes_grower<Code, ManyClasses>(table, target, parameters, stop);
}

}  // namespace

GrowTree make_grower(const Table& table, const Target& target, const GrowParameters& parameters, const Stop& stop) {
    return std::holds_alternative<Codes<std::uint8_t>>(table.codes)
               ? grower_for<std::uint8_t>(table, target, parameters, stop)
               : grower_for<std::uint16_t>(table, target, parameters, stop);
}

}  // namespace committee
