#include "tools/serve/tls.hpp"

#include <fstream>

#include "env/base/check.hpp"

#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
#include <openssl/err.h>
#include <openssl/ssl.h>

namespace berth {
namespace {

std::string TlsProblem() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "" : Join(" (OpenSSL: ", reason, ')');
}

void CheckReadable(const std::string& flag, const std::string& path) {
  std::ifstream file(path);
  if (!file || file.peek() == std::ifstream::traits_type::eof()) {
    throw Error(Join(flag, ' ', path, ": expected a file in PEM, found ",
                     file ? "nothing in it" : "none that can be read"));
  }
}

}  // namespace

std::shared_ptr<ssl_ctx_st> MakeTls(const std::string& certificate, const std::string& key) {
  if (certificate.empty()) return nullptr;
  CheckReadable("--tls-cert", certificate);
  CheckReadable("--tls-key", key);
  ERR_clear_error();
  const std::shared_ptr<ssl_ctx_st> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  BERTH_CHECK(context != nullptr, "OpenSSL makes no context");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  // A client that asks for new keys in a loop costs far more than it pays.
  SSL_CTX_set_options(context.get(), SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_default_passwd_cb(context.get(),
                                [](char*, int, int, void*) { return 0; });  // nobody is there to be asked
  if (SSL_CTX_use_certificate_chain_file(context.get(), certificate.c_str()) != 1)
    throw Error(
        Join("--tls-cert ", certificate, ": expected a certificate in PEM, found none", TlsProblem()));
  // Against the certificate, so a key of another kind or another key fails here.
  if (SSL_CTX_use_PrivateKey_file(context.get(), key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1) {
    throw Error(Join("--tls-key ", key, ": expected the private key, without a password, of the certificate ",
                     certificate, ", found none", TlsProblem()));
  }
  return context;
}

}  // namespace berth

#else

namespace berth {

std::shared_ptr<ssl_ctx_st> MakeTls(const std::string& certificate, const std::string&) {
  if (certificate.empty()) return nullptr;
  throw Error(Join("--tls-cert ", certificate, ": this berth was built without OpenSSL"));
}

}  // namespace berth

#endif
