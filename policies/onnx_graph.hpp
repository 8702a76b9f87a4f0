// ONNX models written without protobuf: a graph of nodes and constants, serialised by hand (onnx.proto3, IR
// version 8, operator set 17). Names of values are made here; only inputs and outputs carry the caller's
// names.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace berth {

enum class OnnxType : std::uint8_t { kFloat = 1, kInt64 = 7, kBool = 9 };  // TensorProto.DataType

// One attribute: an integer, or a list of them.
struct OnnxAttribute {
  std::string name;
  std::vector<std::int64_t> values;
  bool list = false;
};

class OnnxGraph {
 public:
  // A dimension is a number, or a name where it is free.
  void Input(const std::string& name, OnnxType type, const std::vector<std::string>& dimensions);
  void Output(const std::string& name, OnnxType type, const std::vector<std::string>& dimensions);

  // Constants; give back the name of the value.
  std::string Tensor(std::span<const float> values, std::span<const std::int64_t> shape);  // row-major
  std::string Float(float value);                                                          // scalar
  std::string Integers(const std::vector<std::int64_t>& values);                           // [n]

  // Appends a node with one output, named `output` or by us, and gives back its name. Inputs must exist
  // already: nodes stand in topological order.
  std::string Node(const std::string& operation, const std::vector<std::string>& inputs,
                   const std::vector<OnnxAttribute>& attributes = {}, const std::string& output = {});

  // The bytes of a ModelProto.
  std::string Serialize(const std::string& graph_name,
                        std::span<const std::pair<std::string, std::string>> metadata) const;

 private:
  std::string FreshName();
  int next_ = 0;
  std::vector<std::string> inputs_, outputs_, constants_, nodes_;  // serialised protos, in order
};

}  // namespace berth
