// The arrays that a Python scheduler sees. Columns of jobs are [n]: of the n jobs that have arrived, by
// index.
//
// What never changes of a job is written once, when it has arrived, and Python gets slices of that memory.
// What changes is written when it is first read at a decision point, for the jobs that are there. Memory
// belongs to the arrays: who keeps one keeps what it held, for the next decision then writes elsewhere.
//
// Thread rule: with the GIL.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "env/base/index.hpp"
#include "env/sim/cluster_view.hpp"

namespace berth {

// An array of so many rows that grows within its memory, read-only to Python.
template <class T>
class Column {
 public:
  bool made() const { return whole_.is_valid(); }
  // [rows], or with a width [rows, width].
  void Make(std::size_t rows, std::size_t width = 0) {
    auto* memory = new std::vector<T>(rows * std::max<std::size_t>(1, width));
    const nanobind::capsule owner(memory, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    const std::size_t shape[] = {rows, width};
    using Array = nanobind::ndarray<nanobind::numpy, const T>;
    data_ = memory->data(), rows_ = rows, width_ = width;
    part_.reset();
    whole_ = nanobind::cast(Array(data_, width == 0 ? 1 : 2, shape, owner));
  }
  T* data() { return data_; }
  // To be written: not what somebody has kept.
  T* Own() {
    const bool lent = part_.is_valid() ? Py_REFCNT(part_.ptr()) > 1 || Py_REFCNT(whole_.ptr()) > 2
                                       : Py_REFCNT(whole_.ptr()) > 1;
    if (!lent) return data_;
    const nanobind::object kept = whole_;
    const T* const before = data_;
    Make(rows_, width_);
    std::copy_n(before, rows_ * std::max<std::size_t>(1, width_), data_);
    return data_;
  }
  nanobind::object First(std::size_t rows) {
    if (!part_.is_valid() || shown_ != rows) {
      part_ = nanobind::steal(PySequence_GetSlice(whole_.ptr(), 0, static_cast<Py_ssize_t>(rows)));
      if (!part_.is_valid()) nanobind::raise_python_error();
      shown_ = rows;
    }
    return part_;
  }

  std::size_t filled = 0;        // of what never changes: rows that are written
  std::vector<int> jobs;         // of what changes: who was there when it was last written
  std::uint64_t written = 0;     // at which decision point; 0 = never
  std::uint64_t of_version = 0;  // of rates

 private:
  T* data_ = nullptr;
  std::size_t rows_ = 0, width_ = 0, shown_ = 0;
  nanobind::object whole_, part_;
};

// One column of jobs: its name in Python, what it says, who may read it.
template <class T>
struct JobColumnInfo {
  const char *name, *help;
  T (*read)(const ClusterView& view, int job);
  bool changes = false;
  Knowledge needs = Knowledge::kNone;
};
std::span<const JobColumnInfo<double>> NumberColumns();
std::span<const JobColumnInfo<std::int64_t>> IndexColumns();

// A list of jobs, or one number a GPU type or device.
struct ListInfo {
  const char *name, *help;
  void (*read)(const ClusterView& view, std::vector<std::int64_t>& into);
};
std::span<const ListInfo> Lists();

// Of one run.
class ViewColumns {
 public:
  ViewColumns();
  void BeginPoint(const ClusterView& view);  // a decision point begins
  int arrived() const { return arrived_; }

  nanobind::object Numbers(const ClusterView& view, std::size_t column);
  nanobind::object Indices(const ClusterView& view, std::size_t column);
  nanobind::object List(const ClusterView& view, std::size_t list);
  nanobind::object Rates(const ClusterView& view);  // [n, G]

 private:
  template <class T>
  nanobind::object Read(const ClusterView& view, const JobColumnInfo<T>& info, Column<T>& column);

  std::uint64_t point_ = 0;
  int arrived_ = 0;
  std::vector<Column<double>> numbers_;
  std::vector<Column<std::int64_t>> indices_, lists_;
  Column<double> rates_;
  std::vector<std::int64_t> list_;
};

}  // namespace berth
