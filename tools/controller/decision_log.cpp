#include "tools/controller/decision_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "env/base/check.hpp"

namespace berth {

DecisionLog::DecisionLog(const std::string& path) : path_(path) {
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  if (file_ < 0) throw Error(Join(path, ": expected a file to append to, found ", std::strerror(errno)));
  char last = '\n';
  if (const off_t size = lseek(file_, 0, SEEK_END);
      size > 0 && pread(file_, &last, 1, size - 1) == 1 && last != '\n')
    lines_ = "\n";
}

DecisionLog::~DecisionLog() {
  if (file_ >= 0) close(file_);
}

void DecisionLog::Add(double at_s, const char* kind, Json what) {
  Json line = {{"at", at_s}, {"kind", kind}};
  line.update(what);
  // What users call their jobs need not be UTF-8.
  lines_ += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void DecisionLog::Flush() {
  std::size_t done = 0;
  while (done < lines_.size()) {
    const ssize_t wrote = write(file_, lines_.data() + done, lines_.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      lines_.erase(0, done);  // so that nothing is written twice when there is room again
      throw Error(Join(path_, ": expected room for the log, found ", std::strerror(errno)));
    }
    done += static_cast<std::size_t>(wrote);
  }
  if (done > 0) fsync(file_);
  lines_.clear();
}

}  // namespace berth
