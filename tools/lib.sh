# Shared by the scripts of this folder, which source it: where we are, headings, and the one way to build.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=${BERTH_PRESET:-release}  # cuda: with kernels of its own for a GPU
build=$top/build/$preset
venv=$top/.venv
# Scripts that call each other count from the first one's start.
export BERTH_BEGUN=${BERTH_BEGUN:-$(date +%s)}

elapsed() { local s=$(($(date +%s) - BERTH_BEGUN)); printf '%d:%02d' $((s / 60)) $((s % 60)); }
stage() { printf '\n== %s (at %s)\n' "$*" "$(elapsed)"; }
fail() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 2; }

# configure_once: the preset; afterwards ninja repeats it by itself when CMake files change.
configure_once() {
  [ -f "$build/build.ninja" ] || (cd "$top" && cmake --preset "$preset" >"$top/build/configure.log" 2>&1) \
    || { cat "$top/build/configure.log" >&2; fail "cannot configure; tools/setup installs what is missing"; }
}

# build TARGET...: with progress lines; build_quietly TARGET...: silent unless it fails.
build() {
  mkdir -p "$top/build"
  configure_once
  NINJA_STATUS='[%f/%t %es] ' ninja -C "$build" -j "$(nproc)" "$@"
}
build_quietly() {
  mkdir -p "$top/build"
  configure_once
  # torchrun and srun start several at once: one builds, the others wait and find everything done
  flock -n "$top/build/lock" true || echo "$(basename "$0"): waits for another build in ${build#"$top"/}" >&2
  flock "$top/build/lock" ninja -C "$build" -j "$(nproc)" --quiet "$@" >&2
}
