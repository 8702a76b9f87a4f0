// Text results, written whole or not at all, and outputs checked before the work starts.
#pragma once

#include <string>

namespace berth {

// Throws Error when `path` cannot be written: its folder is missing or read-only, or it is a folder or a
// device, or what is there is another kind of file than what would take its place: a Berth file of `kind`,
// or, where that is empty, one that is none of Berth's. Leaves what is there untouched. An empty path is
// fine: nothing was asked for.
void CheckWritable(const std::string& path, const std::string& what, const std::string& kind = "");

// Makes the folder of an output and those above it; Error when a file cannot be written there.
void MakeFolder(const std::string& folder, const std::string& what);

// A device or pipe (/dev/stdout), into which text is written directly: a rename would replace it.
bool IsSpecialFile(const std::string& path);

// Under a temporary name, flushed and renamed; Error (also when the disk is full) leaves the old file.
void WriteTextFile(const std::string& path, const std::string& text);

}  // namespace berth
