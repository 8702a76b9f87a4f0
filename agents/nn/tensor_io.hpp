// Tensors and networks to and from checkpoints. Float tensors only, whatever device they are on.
#pragma once

#include <torch/torch.h>

#include <span>
#include <string>
#include <vector>

#include "data/hdf5_file.hpp"
#include "env/base/rng.hpp"

namespace berth {

void WriteTensor(h5::Writer& out, const std::string& dataset, const torch::Tensor& tensor);
// Copies into `tensor`, whose shape must be the file's. Throws Error naming both shapes.
void ReadTensor(const h5::Reader& in, const std::string& dataset, torch::Tensor& tensor);

// Parameters by their names in the module, '.' written as '/'.
void WriteModule(h5::Writer& out, const std::string& group, const torch::nn::Module& module);
void ReadModule(const h5::Reader& in, const std::string& group, torch::nn::Module& module);

// Positions of random streams, which are remade from seed and purpose.
std::vector<std::uint64_t> Positions(std::span<const Stream> streams);
void Seek(std::span<Stream> streams, std::span<const std::uint64_t> positions);
void WritePositions(h5::Writer& out, const std::string& dataset, std::span<const Stream> streams);
void ReadPositions(const h5::Reader& in, const std::string& dataset, std::span<Stream> streams);

}  // namespace berth
