// What 32 threads of a warp do together, in one source for device and host. On the device a PerLane is a
// register and the warp exchanges values by shuffles; on the host it is 32 numbers, and each section runs
// lane after lane. The sums are taken in the same order (a butterfly, a prefix scan of doubling distance), so
// that both sides give the same bits where the arithmetic is IEEE's (--fmad=false, -ffp-contract=off).
//
//   PerLane<float> part;
//   warp.Each([&](int lane) { part[lane] = x[lane]; });
//   const float sum = warp.Reduce(part, [](float a, float b) { return a + b; });
//
// Rule: every lane of a warp calls the same functions in the same order.
#pragma once

#include "agents/nn/kernels/host_device.hpp"

namespace berth::cuda {

inline constexpr int kLanes = 32;

#ifdef __CUDA_ARCH__
template <class T>
class PerLane {
 public:
  __device__ T& operator[](int) { return value_; }
  __device__ const T& operator[](int) const { return value_; }

 private:
  T value_;
};
#else
template <class T>
class PerLane {
 public:
  BERTH_HOST_DEVICE T& operator[](int lane) { return value_[lane]; }
  BERTH_HOST_DEVICE const T& operator[](int lane) const { return value_[lane]; }

 private:
  T value_[kLanes];
};
#endif

struct Warp {
  // f(lane) on every lane; what it wrote to memory is seen by the next section.
  template <class F>
  BERTH_HOST_DEVICE void Each(const F& f) const {
#ifdef __CUDA_ARCH__
    f(static_cast<int>(threadIdx.x) % kLanes);
    __syncwarp();
#else
    for (int lane = 0; lane < kLanes; ++lane) f(lane);
#endif
  }

  // op over all lanes, the same value on each: op must be commutative to the bit.
  template <class T, class Op>
  BERTH_HOST_DEVICE T Reduce(const PerLane<T>& x, const Op& op) const {
#ifdef __CUDA_ARCH__
    T value = x[0];
    for (int distance = kLanes / 2; distance > 0; distance /= 2)
      value = op(value, __shfl_xor_sync(0xFFFFFFFFU, value, distance));
    return value;
#else
    PerLane<T> value = x;
    for (int distance = kLanes / 2; distance > 0; distance /= 2) {
      const PerLane<T> before = value;
      for (int lane = 0; lane < kLanes; ++lane) value[lane] = op(before[lane], before[lane ^ distance]);
    }
    return value[0];
#endif
  }

  // x[lane] = x[0] op ... op x[lane] (Hillis & Steele 1986); op must be associative.
  template <class T, class Op>
  BERTH_HOST_DEVICE void Scan(PerLane<T>& x, const Op& op) const {
    for (int distance = 1; distance < kLanes; distance *= 2) {
#ifdef __CUDA_ARCH__
      const T earlier = Up(x[0], distance);
      if (static_cast<int>(threadIdx.x) % kLanes >= distance) x[0] = op(earlier, x[0]);
#else
      for (int lane = kLanes - 1; lane >= distance; --lane) x[lane] = op(x[lane - distance], x[lane]);
#endif
    }
  }

  // The value of the lane before, `first` on lane 0.
  template <class T>
  BERTH_HOST_DEVICE PerLane<T> Before(const PerLane<T>& x, const T& first) const {
    PerLane<T> out;
#ifdef __CUDA_ARCH__
    const T earlier = Up(x[0], 1);
    out[0] = threadIdx.x % kLanes == 0 ? first : earlier;
#else
    out[0] = first;
    for (int lane = 1; lane < kLanes; ++lane) out[lane] = x[lane - 1];
#endif
    return out;
  }

  template <class T>
  BERTH_HOST_DEVICE T Last(const PerLane<T>& x) const {
#ifdef __CUDA_ARCH__
    return __shfl_sync(0xFFFFFFFFU, x[0], kLanes - 1);
#else
    return x[kLanes - 1];
#endif
  }

#ifdef __CUDA_ARCH__
 private:
  template <class T>
  __device__ static T Up(const T& x, int distance) {
    return __shfl_up_sync(0xFFFFFFFFU, x, distance);
  }
  // Of a type with two numbers: no shuffle moves more than one.
  template <class T>
  requires requires(T t) {
    t.add, t.multiply;
  }
  __device__ static T Up(const T& x, int distance) {
    return {__shfl_up_sync(0xFFFFFFFFU, x.add, distance), __shfl_up_sync(0xFFFFFFFFU, x.multiply, distance)};
  }
#endif
};

}  // namespace berth::cuda
