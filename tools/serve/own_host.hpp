// Whom a browser thinks that it talks to. A page of another site runs in the same browser as an operator's,
// and what it may be talked into is refused by two headers that no page can set.
#pragma once

#include <string>

namespace berth {

// Whether `host`, a request's, is an address, "localhost", the machine's own name or `listens_as`: what
// nobody else can have. A name of somebody else's domain may lead here too (DNS rebinding), and a page of
// that domain would then be of our origin.
bool IsOwnHost(const std::string& host, const std::string& listens_as);

// Whether a page of another server than `host` asks; "" = no page does.
bool FromElsewhere(const std::string& origin, const std::string& host);

// Whether this socket is bound to an address that only this machine reaches.
bool OnLoopback(int socket);

}  // namespace berth
