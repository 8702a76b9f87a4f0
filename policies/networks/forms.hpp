// What a kind of step has to give beside its shape: its computation without LibTorch, and its nodes in an
// ONNX graph. Both are handed what the steps before it left. Dense products are in dense_step.cpp, means and
// maxima in pooling.cpp, attention in attention.cpp, messages in messages.cpp, what ends a network in
// answers.cpp.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "policies/bundle.hpp"
#include "policies/networks/description.hpp"
#include "policies/onnx_graph.hpp"

namespace berth {

// One evaluation under way. RowOf of jobs are those of the present jobs [n, .]. Steps over pairs run block by
// block of jobs, so that the pairs of a block stay in the nearest cache from the first to the last of them.
struct PlainRun {
  ObservationLayout layout;             // as evaluated
  int points = 0;                       // of the state
  std::vector<int> jobs;                // [n] present rows of the queue
  std::size_t begin = 0, end = 0;       // of `jobs`: the block
  std::vector<const float*> read;       // by value: its rows; of pairs: those of the block, but of the input
                                        // NetworkDescription::pairs(): of all rows of the queue [Q, G, .]
  std::vector<float*> write;            // by value, of those that are computed
  std::size_t Count(RowOf rows) const;  // now
};

// Computes a step's rows: those of the block, or all. May own scratch memory, so one thread at a time. Steps
// over pairs see a first block, maybe an empty one, in every evaluation.
using PlainStep = std::function<void(PlainRun& run)>;

// A graph under construction.
struct OnnxRun {
  const NetworkDescription& net;
  const PolicyBundle& bundle;
  OnnxGraph& graph;
  std::vector<std::string> name;       // by value
  std::string present = {};            // [B, Q, 1] 1 or 0, where the network reads jobs
  std::string one = {};                // the scalar 1, likewise
  std::vector<std::string> kept = {};  // by value: with 0 in rows of absent jobs, once somebody asked

  const NetworkValue& At(ValueId value) const { return net.values()[static_cast<std::size_t>(value)]; }
  const std::string& Name(ValueId value) const { return name[static_cast<std::size_t>(value)]; }
};

#define BERTH_DECLARE(kind)                                                                             \
  PlainStep Plain##kind(const NetworkDescription& net, const NetworkStep& step, const PolicyBundle& b); \
  std::string Onnx##kind(OnnxRun& run, const NetworkStep& step); /* gives back the name of its output */
BERTH_NETWORK_STEPS(BERTH_DECLARE)
#undef BERTH_DECLARE

}  // namespace berth
