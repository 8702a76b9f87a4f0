// What Slurm writes and reads as text: lines of Key=Value words (slurm.conf; also Key = Value), lists of
// hosts, spans of time, and the nodes with GPUs that a slurm.conf declares. Formats: slurm.conf(5) of
// Slurm 22.05.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth {

// One line, its continuations ("\" at the end) joined. Keys are lower case, since Slurm does not look at it;
// values are as written, without the quotes around them.
struct SlurmLine {
  int number = 0;  // of its first line in the file, from 1
  std::vector<std::pair<std::string, std::string>> words;

  const std::string* Find(std::string_view key) const;  // null = not there
};

// Throws Error "file:line: ..." for a word that is no Key=Value, and where the file cannot be read. `Include`
// is not followed: it is a line like others.
std::vector<SlurmLine> ReadSlurmConf(const std::string& path);

// "v[1-3,07],p1" as v1 v2 v3 v07 p1; numbers keep their width. Errors begin with `what`.
std::vector<std::string> ExpandHosts(std::string_view text, const std::string& what);

// Seconds of "90" (minutes, as Slurm reads a bare number), "2:30" (minutes:seconds), "1:00:00", "2-0",
// "1-12:30:00"; infinite for UNLIMITED and INFINITE. Errors begin with `what`.
double ParseSlurmSpan(std::string_view text, const std::string& what);

// A node that has GPUs, as declared by NodeName=... Gres=gpu:TYPE:COUNT (no_consume and 1k = 1024 are
// read). Without a TYPE it is "gpu".
struct SlurmNode {
  std::string name;
  std::string gpu_type;  // as jobs ask for it, in any case; as the file first writes it
  std::string type;      // the same, but "TYPE-COUNT" where earlier nodes have another count of it
  int gpus = 0;
  int line = 0;
};

struct SlurmNodes {
  std::vector<SlurmNode> nodes;  // type by type, as types first occur, and of a type in the order of the file
  std::vector<std::string> without_gpu;  // names of nodes that have none
  std::vector<std::string> future;       // of those that have, but State=FUTURE: they are not there yet
};
// Throws Error naming the line, as for a node with several types of GPU.
SlurmNodes NodesOf(const std::vector<SlurmLine>& lines, const std::string& path);

struct SlurmPartition {
  std::string name;
  std::vector<int> nodes;  // of SlurmNodes, ascending
  const SlurmLine* line;   // PartitionName=name ...
};
// In the order of the file. Nodes without GPUs and those of the future count for nothing; error for a node
// that nobody declared. What NodeSet lines name stands for its nodes.
// `lines` outlive it.
std::vector<SlurmPartition> PartitionsOf(const std::vector<SlurmLine>& lines, const SlurmNodes& nodes,
                                         const std::string& path);

}  // namespace berth
