// The options of a verb that listens (tools/serve/http_listener.hpp).
#include <fstream>
#include <iterator>

#include "tools/options.hpp"
#include "tools/serve/http_listener.hpp"

namespace berth {
namespace {

constexpr std::size_t kLeastToken = 16;  // characters

std::string ReadToken(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(Join("--token-file ", path, ": expected a file, found none that can be read"));
  std::string token{std::istreambuf_iterator<char>(file), {}};
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  for (const char c : token) {
    if (c <= ' ' || c > '~') {
      throw Error(
          Join("--token-file ", path, ": expected one line of letters, digits and signs without blanks"));
    }
  }
  if (token.size() < kLeastToken) {
    throw Error(Join("--token-file ", path, ": expected a token of at least ", kLeastToken,
                     " characters, found ", token.size()));
  }
  return token;
}

}  // namespace

void DeclareListening(Options& options, int port) {
  options.Group("Who reaches it");
  options.Value("host", "127.0.0.1", "address to listen on");
  options.Value("port", std::to_string(port), "to listen on; 0 = any that is free");
  options.Value("socket", "", "a UNIX socket's path, in place of host and port; only its owner can connect");
  options.Input("tls-cert", "speak TLS: the certificate (PEM), its chain behind it");
  options.Input("tls-key", "the certificate's private key (PEM, without a password)");
  options.Input("token-file", "ask callers for the token in this file (Authorization: Bearer); not /healthz");
  options.Value("limit", "67108864", "largest body, bytes");
}

ListenOptions ReadListening(const Options& options) {
  ListenOptions listen;
  listen.host = options.Text("host");
  listen.port = static_cast<int>(options.Integer("port", 0, 65535));
  listen.socket = options.Text("socket");
  listen.certificate = options.Text("tls-cert");
  listen.key = options.Text("tls-key");
  listen.most_body = static_cast<std::size_t>(options.Integer("limit", 1, std::int64_t{1} << 32));
  if (listen.certificate.empty() != listen.key.empty()) {
    throw Error(
        Join("expected --tls-cert and --tls-key, found only --tls-", listen.key.empty() ? "cert" : "key"));
  }
  for (const char* other : {"host", "port", "tls-cert"}) {
    if (!listen.socket.empty() && options.Given(other)) {
      throw Error(Join("expected --socket or --", other, ", found both"));
    }
  }
  const std::string& token_file = options.Text("token-file");
  if (!token_file.empty()) listen.token = ReadToken(token_file);
  return listen;
}

}  // namespace berth
