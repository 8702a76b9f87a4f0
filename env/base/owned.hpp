// A value on the heap whose type need not be known where it is copied: state of a feature inside the
// simulator's, absent (null) where the feature is off.
#pragma once

#include <utility>

namespace berth {

template <class T>
class Owned {
 public:
  Owned() = default;
  // Where T is complete.
  static Owned Make(T value) {
    Owned owned;
    owned.value_ = new T(std::move(value));
    owned.clone_ = [](const T* from) { return new T(*from); };
    owned.destroy_ = [](T* dead) { delete dead; };
    return owned;
  }
  Owned(const Owned& other) : clone_(other.clone_), destroy_(other.destroy_) {
    if (other.value_ != nullptr) value_ = clone_(other.value_);
  }
  Owned(Owned&& other) noexcept
      : value_(std::exchange(other.value_, nullptr)), clone_(other.clone_), destroy_(other.destroy_) {}
  Owned& operator=(Owned other) noexcept {
    std::swap(value_, other.value_);
    std::swap(clone_, other.clone_);
    std::swap(destroy_, other.destroy_);
    return *this;
  }
  ~Owned() {
    if (value_ != nullptr) destroy_(value_);
  }

  explicit operator bool() const { return value_ != nullptr; }
  T* get() { return value_; }
  const T* get() const { return value_; }
  T* operator->() { return value_; }
  const T* operator->() const { return value_; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }

 private:
  T* value_ = nullptr;
  T* (*clone_)(const T*) = nullptr;
  void (*destroy_)(T*) = nullptr;
};

}  // namespace berth
