#include "tests/mutation/mutant.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

namespace berth::mutation {
namespace {
constexpr int kBytes = 4096;
unsigned char kept[kBytes];
}  // namespace

int chosen = -1;
unsigned char* reached = kept;

namespace {
// Before any table of the program is worked out. A mapped file also tells of processes that are killed, and of children.
[[gnu::constructor(101)]] void ReadEnvironment() {
  if (const char* text = std::getenv("BERTH_MUTANT"); text != nullptr && *text != '\0') chosen = std::atoi(text);
  const char* path = std::getenv("BERTH_MUTANT_REACHED");
  if (path == nullptr) return;
  const int file = open(path, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, kBytes) != 0) return;
  void* map = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (map != MAP_FAILED) reached = static_cast<unsigned char*>(map);
  close(file);
}
}  // namespace
}  // namespace berth::mutation
