#include "data/text_file.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/plain_text.hpp"
#include "env/base/readable.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

// Bytes of text: a larger file is a mistake, or hostile.
constexpr std::size_t kMostText = std::size_t{1} << 31;

// POSIX ustar (IEEE Std 1003.1-1988): 512-byte headers with the name at 0, the size in octal at 124, "ustar"
// at 257; contents padded to 512 bytes.
std::string Member(const std::string& archive, const std::string& wanted) {
  constexpr std::size_t kBlock = 512;
  const std::string tar = ReadText(archive);
  std::vector<std::string> names;
  for (std::size_t at = 0; at + kBlock <= tar.size() && tar[at] != '\0';) {
    const std::string_view header(tar.data() + at, kBlock);
    if (header.substr(257, 5) != "ustar")
      throw Error(Join(archive, ": expected a tar archive, found something else"));
    const std::string name(header.substr(0, std::min<std::size_t>(header.find('\0'), 100)));
    std::size_t size = 0;
    for (char c : header.substr(124, 11)) {
      if (c >= '0' && c <= '7') size = size * 8 + static_cast<std::size_t>(c - '0');
    }
    const std::size_t begin = at + kBlock;
    if (size > tar.size() - begin)
      throw Error(Join(archive, ": damaged or cut: '", name, "' is not all there"));
    if (name == wanted) return tar.substr(begin, size);
    names.push_back(name);
    at = begin + (size + kBlock - 1) / kBlock * kBlock;
  }
  throw Error(Join(archive, ": holds no '", wanted, "'", DidYouMean(wanted, names)));
}

std::string WithoutMark(std::string text) {
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return text;
}

[[noreturn]] void TooLarge(const std::string& path) {
  throw Error(Join(path, ": expected at most ", kMostText, " bytes of text, found more"));
}

std::string Bytes(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw Error(Join(path, ": cannot be opened for reading: ", std::strerror(errno)));
  std::string bytes;
  std::vector<char> buffer(std::size_t{1} << 18);
  ssize_t got = 0;
  do {
    got = read(file, buffer.data(), buffer.size());
    if (got > 0) bytes.append(buffer.data(), static_cast<std::size_t>(got));
  } while ((got > 0 || (got < 0 && errno == EINTR)) && bytes.size() <= kMostText);
  const int error = errno;
  close(file);
  if (bytes.size() > kMostText) TooLarge(path);
  if (got < 0) throw Error(Join(path, ": cannot be read: ", std::strerror(error)));
  return bytes;
}

// Of gzip's members one after the other (RFC 1952).
std::string Unpacked(std::string& bytes, const std::string& path) {
  constexpr int kOfGzip = 16;
  z_stream stream = {};
  if (inflateInit2(&stream, MAX_WBITS + kOfGzip) != Z_OK) throw Error(Join(path, ": no memory to unpack it"));
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text;
  std::vector<char> buffer(std::size_t{1} << 18);
  int code = Z_OK;
  while ((code == Z_OK || code == Z_STREAM_END) && text.size() <= kMostText) {
    if (code == Z_STREAM_END && (stream.avail_in == 0 || inflateReset(&stream) != Z_OK)) break;
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    code = inflate(&stream, Z_NO_FLUSH);
    text.append(buffer.data(), buffer.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (text.size() > kMostText) TooLarge(path);
  if (code != Z_STREAM_END) throw Error(Join(path, ": damaged or cut: it cannot be unpacked to its end"));
  return text;
}

}  // namespace

std::string ArchiveOf(const std::string& path) {
  for (const std::string_view ending : {".tar.gz:", ".tgz:", ".tar:"}) {
    if (const std::size_t at = path.find(ending); at != std::string::npos)
      return path.substr(0, at + ending.size() - 1);
  }
  return "";
}

std::string ReadText(const std::string& path) {
  CheckReadable(path);
  std::string bytes = Bytes(path);
  constexpr std::string_view kGzip = "\x1f\x8b";
  return WithoutMark(bytes.starts_with(kGzip) ? Unpacked(bytes, path) : bytes);
}

TextFile::TextFile(const std::string& path) : path_(path) {
  const std::string archive = ArchiveOf(path);
  text_ = archive.empty() ? ReadText(path) : WithoutMark(Member(archive, path.substr(archive.size() + 1)));
}

bool TextFile::Next(std::string& line) {
  if (at_ >= text_.size()) return false;
  const std::size_t end = std::min(text_.find('\n', at_), text_.size());
  line.assign(text_, at_, end - at_);
  at_ = end + 1;
  ++number_;
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return true;
}

std::string TextFile::Where() const {
  return Join(path_, ":", number_);
}

}  // namespace berth
