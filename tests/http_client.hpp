// HTTP calls to a server under test, as bytes: also what is no HTTP.
#pragma once

#include <string>

namespace berth::test {

// A connection to a port of the loopback, or to a UNIX socket; -1 where nobody listens.
int Connect(int port);
int Connect(const std::string& socket_path);

// Sends, and gives back all that comes until the server closes; "" where nothing does within 30 s. `finish`:
// says that nothing more will be sent. Closes the connection.
std::string ExchangeOn(int connection, const std::string& sent, bool finish = false);
std::string Exchange(int port, const std::string& sent, bool finish = false);

// `headers`: lines that end with \r\n.
std::string Get(const std::string& path, const std::string& headers = "");
std::string Post(const std::string& path, const std::string& body, const std::string& headers = "");

// Of an answer: its status, 0 where it is none, and what follows its headers.
int StatusOf(const std::string& answer);
std::string Body(const std::string& answer);

}  // namespace berth::test
