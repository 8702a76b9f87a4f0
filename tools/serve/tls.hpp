// The certificate and the key of a server that speaks TLS.
#pragma once

#include <memory>
#include <string>

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace berth {

// TLS 1.2 or later. Null where `certificate` is empty. Throws Error: files that cannot be read, or that do
// not belong together.
std::shared_ptr<ssl_ctx_st> MakeTls(const std::string& certificate, const std::string& key);

}  // namespace berth
