// Whether this build is under AddressSanitizer or ThreadSanitizer, where tests that take long do less.
#pragma once

namespace berth::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

#ifdef __SANITIZE_THREAD__
inline constexpr bool kThreadSanitized = true;
#else
inline constexpr bool kThreadSanitized = false;
#endif
inline constexpr const char* kOneThread =
    "takes long on one thread, where ThreadSanitizer has nothing to find";

// Appended to ASAN_OPTIONS of children that train: LeakSanitizer's own tracer crashes now and then among
// LibTorch's threads as they end ("Tracer caught signal 11"). That what trains leaks nothing is seen in
// berth_learn_tests.
inline constexpr const char* kNoLeakCheck = ":detect_leaks=0";

// Of a test that trains to a target.
inline constexpr int kTrainingSeeds = kSanitized ? 1 : 5;

}  // namespace berth::test
