#include "policies/onnx_graph.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "env/base/check.hpp"

namespace berth {
namespace {

static_assert(std::endian::native == std::endian::little, "protobuf and raw_data are little-endian");

// Field numbers are those of onnx/onnx.proto3.
void Varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}
void Integer(std::string& out, int field, std::int64_t value) {
  Varint(out, static_cast<std::uint64_t>(field) << 3);
  Varint(out, static_cast<std::uint64_t>(value));
}
void Bytes(std::string& out, int field, const std::string& bytes) {
  Varint(out, static_cast<std::uint64_t>(field) << 3 | 2);
  Varint(out, bytes.size());
  out += bytes;
}

bool IsNumber(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// ValueInfoProto {name = 1, type = 2}; TypeProto {tensor_type = 1}; Tensor {elem_type = 1, shape = 2};
// TensorShapeProto {dim = 1}; Dimension {dim_value = 1, dim_param = 2}
std::string ValueInfo(const std::string& name, OnnxType type, const std::vector<std::string>& dimensions) {
  std::string shape;
  for (const std::string& text : dimensions) {
    std::string dimension;
    if (IsNumber(text)) {
      Integer(dimension, 1, std::stoll(text));
    } else {
      Bytes(dimension, 2, text);
    }
    Bytes(shape, 1, dimension);
  }
  std::string tensor, type_proto, info;
  Integer(tensor, 1, static_cast<int>(type));
  Bytes(tensor, 2, shape);
  Bytes(type_proto, 1, tensor);
  Bytes(info, 1, name);
  Bytes(info, 2, type_proto);
  return info;
}

// TensorProto {dims = 1, data_type = 2, name = 8, raw_data = 9}
std::string TensorProto(const std::string& name, OnnxType type, std::span<const std::int64_t> shape,
                        const void* data, std::size_t bytes) {
  std::string raw(bytes, '\0'), tensor;
  if (bytes > 0) std::memcpy(raw.data(), data, bytes);
  for (std::int64_t size : shape) Integer(tensor, 1, size);
  Integer(tensor, 2, static_cast<int>(type));
  Bytes(tensor, 8, name);
  Bytes(tensor, 9, raw);
  return tensor;
}

}  // namespace

std::string OnnxGraph::FreshName() {
  return Join("v", next_++);
}

void OnnxGraph::Input(const std::string& name, OnnxType type, const std::vector<std::string>& dimensions) {
  inputs_.push_back(ValueInfo(name, type, dimensions));
}

void OnnxGraph::Output(const std::string& name, OnnxType type, const std::vector<std::string>& dimensions) {
  outputs_.push_back(ValueInfo(name, type, dimensions));
}

std::string OnnxGraph::Tensor(std::span<const float> values, std::span<const std::int64_t> shape) {
  const std::string name = FreshName();
  constants_.push_back(TensorProto(name, OnnxType::kFloat, shape, values.data(), values.size_bytes()));
  return name;
}

std::string OnnxGraph::Float(float value) {
  return Tensor({&value, 1}, {});
}

std::string OnnxGraph::Integers(const std::vector<std::int64_t>& values) {
  const std::string name = FreshName();
  const std::int64_t size = static_cast<std::int64_t>(values.size());
  constants_.push_back(
      TensorProto(name, OnnxType::kInt64, {&size, 1}, values.data(), values.size() * sizeof(std::int64_t)));
  return name;
}

// NodeProto {input = 1, output = 2, name = 3, op_type = 4, attribute = 5};
// AttributeProto {name = 1, i = 3, ints = 8, type = 20: INT = 2, INTS = 7}
std::string OnnxGraph::Node(const std::string& operation, const std::vector<std::string>& inputs,
                            const std::vector<OnnxAttribute>& attributes, const std::string& output) {
  const std::string name = output.empty() ? FreshName() : output;
  std::string node;
  for (const std::string& input : inputs) Bytes(node, 1, input);
  Bytes(node, 2, name);
  Bytes(node, 3, operation + "_" + name);
  Bytes(node, 4, operation);
  for (const OnnxAttribute& attribute : attributes) {
    std::string proto;
    Bytes(proto, 1, attribute.name);
    for (std::int64_t value : attribute.values) Integer(proto, attribute.list ? 8 : 3, value);
    Integer(proto, 20, attribute.list ? 7 : 2);
    Bytes(node, 5, proto);
  }
  nodes_.push_back(std::move(node));
  return name;
}

// GraphProto {node = 1, name = 2, initializer = 5, input = 11, output = 12}; ModelProto {ir_version = 1,
// producer_name = 2, graph = 7, opset_import = 8, metadata_props = 14}
std::string OnnxGraph::Serialize(const std::string& graph_name,
                                 std::span<const std::pair<std::string, std::string>> metadata) const {
  std::string graph, opset, model;
  for (const std::string& node : nodes_) Bytes(graph, 1, node);
  Bytes(graph, 2, graph_name);
  for (const std::string& constant : constants_) Bytes(graph, 5, constant);
  for (const std::string& input : inputs_) Bytes(graph, 11, input);
  for (const std::string& output : outputs_) Bytes(graph, 12, output);
  Integer(model, 1, 8);
  Bytes(model, 2, "berth");
  Bytes(model, 7, graph);
  Bytes(opset, 1, "");
  Integer(opset, 2, 17);
  Bytes(model, 8, opset);
  for (const auto& [key, value] : metadata) {
    std::string entry;
    Bytes(entry, 1, key);
    Bytes(entry, 2, value);
    Bytes(model, 14, entry);
  }
  return model;
}

}  // namespace berth
