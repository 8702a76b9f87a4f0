#include "tools/serve/connection.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>

#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
#include <openssl/ssl.h>
#endif

namespace berth {
namespace {

constexpr std::size_t kPiece = 16384;  // bytes
constexpr double kLook = 0.1;          // s from one look at `stop` to the next
constexpr double kFarewell = 0.2;      // s for what is still on its way when the answer is out
constexpr std::size_t kFarewellBytes = 1 << 20;

std::chrono::steady_clock::duration Seconds(double s) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(s));
}

#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
// Whether a call of OpenSSL that came to `result` is to be made again, after `events`.
bool WaitsFor(SSL* session, int result, short& events) {
  const int why = SSL_get_error(session, result);
  events = why == SSL_ERROR_WANT_WRITE ? POLLOUT : POLLIN;
  return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE;
}
#endif

// What recv or send came to: 0 where one has to wait, -1 at the end.
ssize_t OrWaits(ssize_t count) {
  if (count > 0) return count;
  return count < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

}  // namespace

Connection::Connection(int socket, ssl_ctx_st* tls, const ConnectionLimits& limits,
                       const std::atomic<bool>& stop)
    : socket_(socket), tls_(tls), limits_(limits), stop_(stop) {
  fcntl(socket_, F_SETFL, fcntl(socket_, F_GETFL) | O_NONBLOCK);
}

// What was not read yet would make the kernel throw the answer away with the connection.
Connection::~Connection() {
#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
  if (session_ != nullptr) {
    if (end_ != End::kClosed) SSL_shutdown(session_);
    SSL_free(session_);
  }
#endif
  shutdown(socket_, SHUT_WR);
  char nowhere[4096];
  std::size_t left = answered_ ? kFarewellBytes : 0;
  for (const auto until = Clock::now() + Seconds(kFarewell); left > 0 && Wait(POLLIN, until, true);) {
    const ssize_t count = recv(socket_, nowhere, std::min(left, sizeof nowhere), 0);
    if (count <= 0) break;
    left -= static_cast<std::size_t>(count);
  }
  close(socket_);
}

bool Connection::Wait(short events, Clock::time_point until, bool stoppable) {
  for (;;) {
    if (stoppable && stop_.load()) return false;
    const double left = std::chrono::duration<double>(until - Clock::now()).count();
    if (left <= 0.0) return false;
    pollfd one = {socket_, events, 0};
    const int count = poll(&one, 1, static_cast<int>(std::ceil(1000.0 * std::min(left, kLook))));
    if (count > 0) return true;  // also for an error, which the call that follows says
    if (count < 0 && errno != EINTR) return false;
  }
}

ssize_t Connection::Receive(char* to, std::size_t size, short& events) {
  events = POLLIN;
#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
  if (session_ != nullptr) {
    const int count = SSL_read(session_, to, static_cast<int>(std::min<std::size_t>(size, kPiece)));
    return count > 0 ? count : WaitsFor(session_, count, events) ? 0 : -1;
  }
#endif
  return OrWaits(recv(socket_, to, size, 0));
}

ssize_t Connection::Send(const char* from, std::size_t size, short& events) {
  events = POLLOUT;
#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
  if (session_ != nullptr) {
    const int count = SSL_write(session_, from, static_cast<int>(std::min<std::size_t>(size, kPiece)));
    return count > 0 ? count : WaitsFor(session_, count, events) ? 0 : -1;
  }
#endif
  return OrWaits(send(socket_, from, size, MSG_NOSIGNAL));
}

bool Connection::Greet(Clock::time_point until) {
  if (tls_ == nullptr || session_ != nullptr) return true;
#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
  session_ = SSL_new(tls_);
  if (session_ == nullptr || SSL_set_fd(session_, socket_) != 1) return false;
  SSL_set_mode(session_, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  for (;;) {
    const int done = SSL_accept(session_);
    if (done == 1) return true;
    short events = POLLIN;
    if (WaitsFor(session_, done, events) && Wait(events, until, true)) continue;
    SSL_free(session_);  // nobody is there who would understand a farewell
    session_ = nullptr;
    return false;
  }
#else
  (void)until;
  return false;
#endif
}

void Connection::CountHead(const char* bytes, std::size_t size) {
  static constexpr char kLine[] = "\n\r\n";
  for (std::size_t i = 0; i < size && in_head(); ++i)
    empty_line_ = bytes[i] == kLine[empty_line_] ? empty_line_ + 1 : bytes[i] == '\n' ? 1 : 0;
}

bool Connection::Fill() {
  const auto head_by = begin_ + Seconds(limits_.head_s), all_by = begin_ + Seconds(limits_.request_s);
  if (!Greet(head_by)) {
    end_ = End::kClosed;
    return false;
  }
  if (in_head() && received_ >= limits_.most_head) {
    end_ = End::kHead;
    return false;
  }
  if (received_ >= limits_.most_bytes + limits_.most_head) {
    end_ = End::kBytes;
    return false;
  }
  buffer_.resize(in_head() ? std::min(kPiece, limits_.most_head - received_) : kPiece), at_ = 0;
  const auto until = std::min(in_head() ? head_by : all_by, Clock::now() + Seconds(limits_.silence_s));
  short events = POLLIN;
  ssize_t count = 0;
  while ((count = Receive(buffer_.data(), buffer_.size(), events)) == 0) {
    if (Wait(events, until, true)) continue;
    end_ = End::kTime;
    break;
  }
  buffer_.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  if (count < 0) end_ = End::kClosed;
  if (count <= 0) return false;
  received_ += buffer_.size();
  CountHead(buffer_.data(), buffer_.size());
  if (Clock::now() <= all_by) return true;
  end_ = End::kTime;  // it came without a pause, and without an end
  return false;
}

ssize_t Connection::Read(char* to, std::size_t size) {
  if (end_ != End::kNone || (at_ == buffer_.size() && !Fill())) return -1;
  const std::size_t count = std::min(size, buffer_.size() - at_);
  std::copy_n(buffer_.data() + at_, count, to);
  at_ += count;
  return static_cast<ssize_t>(count);
}

bool Connection::Writable() {
  if (answer_by_ == Clock::time_point()) answer_by_ = Clock::now() + Seconds(limits_.answer_s);
  return Wait(POLLOUT, answer_by_, false);
}

ssize_t Connection::Write(const char* from, std::size_t size) {
  if (answer_by_ == Clock::time_point()) answer_by_ = Clock::now() + Seconds(limits_.answer_s);
  answered_ = true;
  short events = POLLOUT;
  for (std::size_t done = 0; done < size;) {
    const ssize_t count = Send(from + done, size - done, events);
    if (count < 0 || (count == 0 && !Wait(events, answer_by_, false))) return -1;
    done += static_cast<std::size_t>(count);
  }
  return static_cast<ssize_t>(size);
}

}  // namespace berth
