// One connection of a client, bounded in time and in bytes: whoever is slow, silent or endless is cut off.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>

struct ssl_ctx_st;  // OpenSSL's SSL_CTX and SSL
struct ssl_st;

namespace berth {

struct ConnectionLimits {
  std::size_t most_head = 32768;  // bytes of the request's first line and headers, all together
  std::size_t most_bytes = 0;     // of the whole request as it comes over the wire
  double silence_s = 5.0;         // from one piece to the next
  double head_s = 5.0;      // from the connection's begin to the end of the headers, TLS's greeting included
  double request_s = 60.0;  // from its begin to the request's last byte
  double answer_s = 60.0;   // from the answer's first byte to its last
};

class Connection {
 public:
  enum class End { kNone, kClosed, kTime, kHead, kBytes };  // why Read gives nothing any more

  // Takes the socket over. `tls` null = none; `stop` true cuts a request off that has not come whole.
  Connection(int socket, ssl_ctx_st* tls, const ConnectionLimits& limits, const std::atomic<bool>& stop);
  ~Connection();  // tells the other side, and closes
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // At least one byte; -1 at the end, whatever it is.
  ssize_t Read(char* to, std::size_t size);
  // All of it; -1 where it cannot be.
  ssize_t Write(const char* from, std::size_t size);
  bool Writable();  // within the answer's time

  End end() const { return end_; }
  bool in_head() const { return empty_line_ < kEmptyLine; }
  bool answered() const { return answered_; }  // something was written
  int socket() const { return socket_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kEmptyLine = 3;  // bytes: the line before's \n, then \r\n

  bool Wait(short events, Clock::time_point until, bool stoppable);
  bool Greet(Clock::time_point until);
  bool Fill();
  void CountHead(const char* bytes, std::size_t size);
  // As recv and send; 0 where one has to wait for `events`.
  ssize_t Receive(char* to, std::size_t size, short& events);
  ssize_t Send(const char* from, std::size_t size, short& events);

  int socket_;
  ssl_ctx_st* tls_;
  ssl_st* session_ = nullptr;
  ConnectionLimits limits_;
  const std::atomic<bool>& stop_;
  Clock::time_point begin_ = Clock::now(), answer_by_{};
  std::string buffer_;
  std::size_t at_ = 0, received_ = 0, empty_line_ = 1;  // bytes of kEmptyLine seen; a first line begins one
  End end_ = End::kNone;
  bool answered_ = false;
};

}  // namespace berth
