// Trains networks: steps of AdamW on the mean loss of mini-batches. Every member is trained on its own rows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "network/network.h"

namespace committee {

// The training rows. The rows of fold m are held out from member m. Rows of a fold without a member are training rows
// of all members.
struct NetworkRows {
    std::span<const float> inputs;          // (n_rows, n_inputs)
    std::span<const std::int32_t> classes;  // by row, or empty
    std::span<const float> numbers;         // by row, or empty
    std::span<const float> weights;         // by row, with a mean of 1
    std::span<const std::int32_t> folds;    // by row
};

struct NetworkOptions {
    std::size_t batch_size;
    double weight_decay;
    double smoothing;  // label smoothing: the share of a class that is spread over all classes
    std::uint64_t seed;
};

class NetworkTraining {
  public:
    // `outputs` are the network's initial outputs.
    NetworkTraining(NetworkShape shape, const NetworkRows& rows, const NetworkOptions& options,
                    std::span<const float> outputs, const Stop& stop);

    // Every member takes one step per rate, with dropout. If this is stopped early, members have taken different
    // numbers of steps.
    void advance(std::span<const double> rates, double dropout, int n_threads, const Stop& stop);

    // The mean loss of the held-out rows, each predicted by the member from which it is held out.
    double held_out_loss(int n_threads, const Stop& stop) const;

    const NetworkShape& shape() const { return shape_; }
    const std::vector<float>& parameters() const { return parameters_; }

    // The gradient of the mean loss of some rows with respect to the parameters of a member.
    std::vector<float> gradient(std::size_t member, std::span<const std::uint32_t> rows) const;

  private:
    struct Workspace;
    struct Learner {
        std::vector<std::uint32_t> rows;  // its training rows
        std::size_t n_drawn = 0;          // since the last shuffle
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
