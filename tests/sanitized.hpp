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
inline constexpr const char* kOneThread = "takes long on one thread, where ThreadSanitizer has nothing to find";

// Of a test that trains to a target.
inline constexpr int kTrainingSeeds = kSanitized ? 1 : 5;

}  // namespace berth::test
