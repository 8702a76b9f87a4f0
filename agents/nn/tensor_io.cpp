#include "agents/nn/tensor_io.hpp"

#include <algorithm>
#include <cstring>

#include "env/base/check.hpp"

namespace berth {
namespace {

std::string DatasetName(const std::string& group, std::string parameter) {
  std::replace(parameter.begin(), parameter.end(), '.', '/');
  return group + "/" + parameter;
}

std::string ShapeText(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (std::size_t d = 0; d < shape.size(); ++d) text += (d ? ", " : "") + std::to_string(shape[d]);
  return text + "]";
}

}  // namespace

void WriteTensor(h5::Writer& out, const std::string& dataset, const torch::Tensor& tensor) {
  const torch::Tensor plain = tensor.detach().to(torch::kCPU, torch::kFloat32).contiguous();
  const std::vector<std::int64_t> shape(plain.sizes().begin(), plain.sizes().end());
  out.Array<float>(dataset,
                   std::span<const float>(plain.data_ptr<float>(), static_cast<std::size_t>(plain.numel())),
                   shape);
}

void ReadTensor(const h5::Reader& in, const std::string& dataset, torch::Tensor& tensor) {
  std::vector<std::int64_t> shape;
  const std::vector<float> values = in.Array<float>(dataset, -1, &shape);
  std::vector<std::int64_t> expected(tensor.sizes().begin(), tensor.sizes().end());
  if (expected.empty()) expected = {1};
  if (shape != expected) {
    throw Error(Join(in.path(), ": ", dataset, ": expected shape ", ShapeText(expected), ", found ",
                     ShapeText(shape)));
  }
  const torch::NoGradGuard no_grad;
  const torch::Tensor plain = torch::empty(tensor.sizes(), torch::kFloat32);
  std::memcpy(plain.data_ptr<float>(), values.data(), values.size() * sizeof(float));
  tensor.copy_(plain);
}

void WriteModule(h5::Writer& out, const std::string& group, const torch::nn::Module& module) {
  for (const auto& item : module.named_parameters())
    WriteTensor(out, DatasetName(group, item.key()), item.value());
}

void ReadModule(const h5::Reader& in, const std::string& group, torch::nn::Module& module) {
  for (auto& item : module.named_parameters()) {
    torch::Tensor parameter = item.value().detach();  // the same memory
    ReadTensor(in, DatasetName(group, item.key()), parameter);
  }
}

std::vector<std::uint64_t> Positions(std::span<const Stream> streams) {
  std::vector<std::uint64_t> positions;
  for (const Stream& stream : streams) positions.push_back(stream.position());
  return positions;
}

void Seek(std::span<Stream> streams, std::span<const std::uint64_t> positions) {
  BERTH_CHECK(streams.size() == positions.size(), streams.size(), " ", positions.size());
  for (std::size_t i = 0; i < streams.size(); ++i) streams[i].Seek(positions[i]);
}

void WritePositions(h5::Writer& out, const std::string& dataset, std::span<const Stream> streams) {
  out.Array<std::uint64_t>(dataset, Positions(streams));
}

void ReadPositions(const h5::Reader& in, const std::string& dataset, std::span<Stream> streams) {
  Seek(streams, in.Array<std::uint64_t>(dataset, static_cast<std::int64_t>(streams.size())));
}

}  // namespace berth
