#include "tools/serve/own_host.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "env/base/plain_text.hpp"

namespace berth {
namespace {

// "gpu1:8899" without its port, "[::1]:8899" without port and brackets.
std::string NameOf(const std::string& host) {
  if (!host.empty() && host[0] == '[') return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

bool IsAddress(const std::string& name) {
  const bool six = name.find(':') != std::string::npos;
  return !name.empty() &&
         name.find_first_not_of(six ? "0123456789abcdef:." : "0123456789.") == std::string::npos;
}

}  // namespace

bool IsOwnHost(const std::string& host, const std::string& listens_as) {
  const std::string name = Lower(NameOf(host));
  if (IsAddress(name) || name == "localhost" || name == Lower(listens_as)) return true;
  char own[256] = "";
  if (gethostname(own, sizeof(own) - 1) != 0 || name.empty()) return false;
  const std::string full = Lower(own);
  return name == full || name == full.substr(0, full.find('.'));
}

bool FromElsewhere(const std::string& origin, const std::string& host) {
  if (origin.empty()) return false;
  const std::size_t at = origin.find("://");
  return at == std::string::npos || origin.substr(at + 3) != host;
}

bool OnLoopback(int socket) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return false;
  if (address.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(address);
    return ntohl(four.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  }
  if (address.ss_family != AF_INET6) return false;
  const in6_addr& six = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&six) || (IN6_IS_ADDR_V4MAPPED(&six) && six.s6_addr[12] == IN_LOOPBACKNET);
}

}  // namespace berth
