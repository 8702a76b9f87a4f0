#include "tests/http_client.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "env/base/check.hpp"

namespace berth::test {

int Connect(int port) {
  const int file = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(file, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0) return file;
  close(file);
  return -1;
}

int Connect(const std::string& socket_path) {
  const int file = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un to = {};
  to.sun_family = AF_UNIX;
  BERTH_CHECK(socket_path.size() < sizeof(to.sun_path), "a longer path than a socket can have");
  std::memcpy(to.sun_path, socket_path.c_str(), socket_path.size());
  if (connect(file, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0) return file;
  close(file);
  return -1;
}

std::string ExchangeOn(int connection, const std::string& sent, bool finish) {
  if (connection < 0) return "";
  const timeval patience = {30, 0};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  for (std::size_t done = 0; done < sent.size();) {
    const ssize_t n = send(connection, sent.data() + done, sent.size() - done, MSG_NOSIGNAL);
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
  if (finish) shutdown(connection, SHUT_WR);
  std::string received;
  char buffer[4096];
  for (ssize_t n; (n = recv(connection, buffer, sizeof(buffer), 0)) > 0;) {
    received.append(buffer, static_cast<std::size_t>(n));
  }
  close(connection);
  return received;
}

std::string Exchange(int port, const std::string& sent, bool finish) {
  return ExchangeOn(Connect(port), sent, finish);
}

std::string Get(const std::string& path, const std::string& headers) {
  return Join("GET ", path, " HTTP/1.1\r\nHost: localhost\r\n", headers, "\r\n");
}

std::string Post(const std::string& path, const std::string& body, const std::string& headers) {
  return Join("POST ", path, " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n", headers,
              "Content-Length: ", body.size(), "\r\n\r\n", body);
}

int StatusOf(const std::string& answer) {
  const std::string start = "HTTP/1.1 ";
  return answer.rfind(start, 0) == 0 ? std::atoi(answer.c_str() + start.size()) : 0;
}

std::string Body(const std::string& answer) {
  const std::size_t at = answer.find("\r\n\r\n");
  return at == std::string::npos ? "" : answer.substr(at + 4);
}

}  // namespace berth::test
