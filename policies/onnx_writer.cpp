#include "policies/onnx_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "env/base/check.hpp"
#include "env/gym/encoder.hpp"
#include "policies/architecture.hpp"

namespace berth {
namespace {

std::string ChannelNames(std::span<const ChannelInfo> channels) {
  std::string names;
  for (const ChannelInfo& channel : channels) {
    if (!names.empty()) names += ',';
    names += channel.name;
  }
  return names;
}

std::vector<std::pair<std::string, std::string>> Metadata(const PolicyBundle& bundle) {
  std::string types;
  for (const std::string& type : bundle.gpu_types) types += (types.empty() ? "" : ",") + type;
  std::vector<std::pair<std::string, std::string>> metadata = {
      {"encoder", bundle.mdp.encoder},
      {"mdp", bundle.mdp.ToString()},
      {"network", bundle.network},
      {"gpu_types", types},
      {"agent", bundle.provenance.agent},
      {"workload", bundle.provenance.workload},
      {"config", bundle.provenance.config},
      {"commit", bundle.provenance.commit},
      {"steps", Join(bundle.provenance.steps)},
      {"seed", Join(bundle.provenance.seed)},
  };
  if (bundle.layout.q > 0) {
    const EncoderInfo encoder = EncoderOf(bundle.mdp.encoder);
    std::string channels;
    for (const std::string& line : encoder.Describe()) channels += Join(line, "\n");
    metadata.emplace_back("blocks", encoder.Blocks());
    metadata.emplace_back("channels", channels);
    metadata.emplace_back("job_channels", ChannelNames(encoder.job));
    metadata.emplace_back("pair_channels", ChannelNames(encoder.pair));
    metadata.emplace_back("type_channels", ChannelNames(encoder.type));
    metadata.emplace_back("global_channels", ChannelNames(encoder.global));
  }
  return metadata;
}

}  // namespace

std::string SerializeOnnx(const PolicyBundle& bundle) {
  Freeze(bundle);  // refuses arrays that are not the architecture's
  const Spec spec = ParseSpec(bundle.network);
  const ArchitectureInfo& info = FindArchitecture(spec.name);
  Params params(spec, info.params);
  OnnxGraph graph;
  info.onnx(params, bundle, graph);
  const auto metadata = Metadata(bundle);
  return graph.Serialize("berth_" + spec.name, metadata);
}

void WriteOnnx(const PolicyBundle& bundle, const std::string& path) {
  const std::string bytes = SerializeOnnx(bundle);
  const std::string temporary = Join(path, ".tmp-", ::getpid());
  const auto fail = [&](const char* doing) {
    const std::string why = std::strerror(errno);
    ::unlink(temporary.c_str());
    return Error(Join(path, ": expected to ", doing, " an ONNX model, found: ", why));
  };
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) throw fail("create");
  bool ok = true;
  for (std::size_t done = 0; ok && done < bytes.size();) {
    const ssize_t n = ::write(file, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    ok = n > 0;
    if (ok) done += static_cast<std::size_t>(n);
  }
  ok = ok && ::fsync(file) == 0;
  const int saved = errno;
  const bool closed = ::close(file) == 0;
  if (!ok) errno = saved;
  if (!ok || !closed) throw fail("write");
  if (std::rename(temporary.c_str(), path.c_str()) != 0) throw fail("rename");
}

}  // namespace berth
