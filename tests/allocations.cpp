#include "tests/allocations.hpp"

#include <cstdlib>
#include <new>

namespace {

thread_local std::int64_t allocations = 0;

void* CountedOrNull(std::size_t size) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
void* Counted(std::size_t size) {
  void* memory = CountedOrNull(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// Every form but the aligned ones: replacing only some would mix these with a sanitizer's own.
void* operator new(std::size_t size) {
  return Counted(size);
}
void* operator new[](std::size_t size) {
  return Counted(size);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return CountedOrNull(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return CountedOrNull(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}

namespace berth::test {

std::int64_t Allocations() {
  return allocations;
}

}  // namespace berth::test
