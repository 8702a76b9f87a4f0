#include "tools/python/python_blocks.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>

#include "tools/python/python_scheduler.hpp"

namespace nb = nanobind;

namespace berth {
namespace {

using Floats = nb::ndarray<float, nb::c_contig, nb::device::cpu>;

class PythonTail final : public ObservationTail {
 public:
  // REQUIRES: the GIL.
  explicit PythonTail(nb::handle blocks) {
    for (const nb::handle one : nb::borrow<nb::object>(blocks)) {
      const nb::object out = nb::borrow(one[3]);
      const auto array = nb::cast<Floats>(out);
      blocks_.push_back({TextOf(one[0]), nb::borrow(one[1]), nb::borrow(one[2]), out,
                         std::span(array.data(), array.size())});
    }
  }
  ~PythonTail() override {
    const nb::gil_scoped_acquire gil;
    blocks_.clear();
    columns_.reset();
  }
  PythonTail(const PythonTail&) = delete;
  PythonTail& operator=(const PythonTail&) = delete;

  void Begin(const ClusterView& view) override {
    const nb::gil_scoped_acquire gil;
    columns_ = std::make_shared<ViewColumns>();
    columns_->BeginPoint(view);
    for (const Block& block : blocks_) Call(block, view, [&](nb::handle seen) { return block.begin(seen); });
  }

  void Fill(const ClusterView& view, std::span<const int> visible, std::span<float> out) override {
    const nb::gil_scoped_acquire gil;
    columns_->BeginPoint(view);
    float* to = out.data();
    for (const Block& block : blocks_) {
      std::fill(block.written.begin(), block.written.end(), 0.0F);
      Call(
          block, view, [&](nb::handle seen) { return block.fill(seen, block.out); }, visible);
      const auto wrong = std::find_if_not(block.written.begin(), block.written.end(),
                                          [](float value) { return std::isfinite(value); });
      if (wrong != block.written.end()) {
        throw Error(Join("block '", block.name, "': expected finite numbers, found ", *wrong, " at ",
                         wrong - block.written.begin(), " of ", block.written.size()));
      }
      to = std::copy(block.written.begin(), block.written.end(), to);
    }
  }

 private:
  struct Block {
    std::string name;
    nb::object begin, fill, out;
    std::span<float> written;  // of out
  };

  template <class Method>
  void Call(const Block& block, const ClusterView& view, const Method& method,
            std::optional<std::span<const int>> visible = {}) {
    try {
      const HandedView seen(columns_, view, visible);
      const nb::object given = method(seen.object());
      if (given.is_none()) return;
      throw Error(Join("block '", block.name,
                       "': expected numbers written into `out`, and None returned, found ",
                       TextOf(nb::repr(given))));
    } catch (const nb::python_error& error) {
      if (!error.matches(PyExc_Exception)) throw;
      throw PythonFailure(Join("block '", block.name, "' fails at ", view.now(), " s: ", InWords(error)),
                          Share(nb::borrow(error.value())));
    }
  }

  std::vector<Block> blocks_;
  std::shared_ptr<ViewColumns> columns_;
};

}  // namespace

void AddPythonBlocks(nb::object blocks, EnvironmentExtras& extras) {
  const SharedObject shared = Share(std::move(blocks));
  extras.lay_out = [shared](const ObservationLayout& layout) {
    const nb::gil_scoped_acquire gil;
    using Bounds = std::pair<std::vector<float>, std::vector<float>>;
    auto [low, high] = nb::cast<Bounds>(shared->attr("lay_out")(layout.q, layout.g));
    return TailBounds{std::move(low), std::move(high)};
  };
  extras.make_tail = [shared]() -> std::unique_ptr<ObservationTail> {
    const nb::gil_scoped_acquire gil;
    return std::make_unique<PythonTail>(shared->attr("make")());
  };
}

}  // namespace berth
