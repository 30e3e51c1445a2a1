// How a network learns: steps of AdamW on the mean loss of a few rows at a time, every member on rows of its own.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "network/network.h"

namespace committee {

// The rows to learn from. A row of fold m is kept from member m; one of a fold that is no member is seen by all.
struct NetworkRows {
    std::span<const float> inputs;          // (n_rows, n_inputs)
    std::span<const std::int32_t> classes;  // of each row, or empty
    std::span<const float> numbers;         // of each row, or empty
    std::span<const float> weights;         // of each row, 1 on average
    std::span<const std::int32_t> folds;    // of each row
};

struct NetworkOptions {
    std::size_t batch_size;
    double weight_decay;
    double smoothing;  // what share of a class is spread over all
    std::uint64_t seed;
};

class NetworkTraining {
  public:
    // `outputs` are what the network answers before it has learnt anything.
    NetworkTraining(NetworkShape shape, const NetworkRows& rows, const NetworkOptions& options,
                    std::span<const float> outputs, const Stop& stop);

    // Every member takes a step for each rate, in which a share of the units is left out. Whatever ends this early
    // leaves members that have taken a different number of them.
    void advance(std::span<const double> rates, double dropout, int n_threads, const Stop& stop);

    // The mean loss of the rows, each judged by the member that it is kept from.
    double held_out_loss(int n_threads, const Stop& stop) const;

    const NetworkShape& shape() const { return shape_; }
    const std::vector<float>& parameters() const { return parameters_; }

    // The gradient of the mean loss of some rows by the parameters of a member.
    std::vector<float> gradient(std::size_t member, std::span<const std::uint32_t> rows) const;

  private:
    struct Workspace;
    struct Learner {
        std::vector<std::uint32_t> rows;  // those that it sees
        std::size_t n_drawn = 0;          // since they were shuffled
        std::uint64_t n_shuffles = 0;
        std::uint64_t n_steps = 0;
        std::vector<float> first;
        std::vector<float> second;
    };

    void draw_parameters(std::size_t member, std::span<const float> outputs);
    void take_step(std::size_t member, double rate, double dropout, Workspace& work);
    void find_gradient(std::size_t member, std::span<const std::uint32_t> rows, const NetworkDropout& dropout,
                       Workspace& work) const;
    void part_scales_from_weights(const float* parameters, float* gradient) const;
    void shuffle(std::size_t member);
    double loss_of(std::size_t row, std::span<const float> outputs) const;

    NetworkShape shape_;
    NetworkRows rows_;
    NetworkOptions options_;
    std::vector<float> parameters_;
    std::vector<Learner> learners_;
};

}  // namespace committee
