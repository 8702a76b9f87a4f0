#include "env/gym/encoder.hpp"

#include "env/base/check.hpp"
#include "env/base/spec.hpp"

namespace berth {

void Encoder::Select(const ClusterView& /*view*/, std::span<const int> candidates, int q,
                     std::vector<int>& visible) {
  const auto n = static_cast<int>(candidates.size());
  visible.assign(candidates.begin(), candidates.begin() + (n <= q ? n : (q + 1) / 2));
  if (n > q) visible.insert(visible.end(), candidates.end() - q / 2, candidates.end());
}

ObservationLayout EncoderInfo::Layout(int q, int g) const {
  const auto count = [](std::span<const ChannelInfo> channels) { return static_cast<int>(channels.size()); };
  return {q, g, count(job), count(pair), count(type), count(global)};
}

std::span<const EncoderInfo> Encoders() {
#define BERTH_ROW(function) function(),
  static const EncoderInfo kTable[] = {BERTH_ENCODERS(BERTH_ROW)};
#undef BERTH_ROW
  return kTable;
}

const EncoderInfo& EncoderOf(const std::string& text) {
  const Spec spec = ParseSpec(text);
  std::vector<std::string> names;
  std::string known;
  for (const EncoderInfo& info : Encoders()) {
    if (spec.name == info.name) return info;
    names.emplace_back(info.name);
    known += Join(known.empty() ? "" : " or ", "'", info.name, "'");
  }
  throw Error(Join("encoder: expected ", known, ", found '", spec.name, "'", DidYouMean(spec.name, names)));
}

std::string ResolveEncoder(const std::string& text) {
  return Params(ParseSpec(text), EncoderOf(text).params).Resolved();
}

std::unique_ptr<Encoder> MakeEncoder(const MdpSpec& mdp) {
  const EncoderInfo& info = EncoderOf(mdp.encoder);
  const Spec spec = ParseSpec(mdp.encoder);
  Params params(spec, info.params);
  std::unique_ptr<Encoder> encoder = info.make(params, mdp);
  params.CheckAllRead();
  return encoder;
}

}  // namespace berth
