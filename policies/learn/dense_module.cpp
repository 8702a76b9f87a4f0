#include "policies/learn/dense_module.hpp"

#include <algorithm>
#include <cmath>

namespace berth {

std::vector<float> OrthogonalWeights(int outputs, int inputs, double gain, Stream& stream) {
  const auto out = static_cast<std::size_t>(outputs), in = static_cast<std::size_t>(inputs);
  const std::size_t count = std::min(out, in), length = std::max(out, in);
  std::vector<double> vectors(count * length);  // orthonormal, one a row
  for (double& x : vectors) x = stream.Normal();
  for (std::size_t i = 0; i < count; ++i) {
    double* v = vectors.data() + i * length;
    // Gram-Schmidt, twice: once leaves rounding behind ("twice is enough", Giraud et al. 2005).
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t j = 0; j < i; ++j) {
        const double* u = vectors.data() + j * length;
        double dot = 0.0;
        for (std::size_t k = 0; k < length; ++k) dot += u[k] * v[k];
        for (std::size_t k = 0; k < length; ++k) v[k] -= dot * u[k];
      }
    }
    double norm = 0.0;
    for (std::size_t k = 0; k < length; ++k) norm += v[k] * v[k];
    norm = std::sqrt(norm);
    for (std::size_t k = 0; k < length; ++k) v[k] /= norm;
  }
  std::vector<float> weights(out * in);
  for (std::size_t o = 0; o < out; ++o) {
    for (std::size_t i = 0; i < in; ++i) {
      weights[o * in + i] =
          static_cast<float>(gain * (out <= in ? vectors[o * length + i] : vectors[i * length + o]));
    }
  }
  return weights;
}

DenseModule::DenseModule(const LayerSpec& spec, Stream& stream) {
  std::vector<float> values = OrthogonalWeights(spec.outputs, spec.inputs, spec.gain, stream);
  weight = register_parameter("weight", torch::from_blob(values.data(), {spec.outputs, spec.inputs}).clone());
  bias = register_parameter("bias", torch::zeros({spec.outputs}));
}

}  // namespace berth
