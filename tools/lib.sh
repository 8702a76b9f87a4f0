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

# build TARGET...: one at a time in a folder (torchrun and srun start several at once: one builds, the others wait and find everything
# done). On stderr a progress line, and nothing where there is nothing to do.
build() {
  mkdir -p "$top/build"
  {
    flock -n 9 || { echo "$(basename "$0"): waits for another build in ${build#"$top"/}" >&2; flock 9; }
    configure_once
    NINJA_STATUS='[%f/%t %e] ' ninja -C "$build" -j "$(nproc)" "$@" 9>&- | show_progress >&2
  } 9>"$top/build/lock"
}

# Ninja's lines as one that is written over, or, where nobody looks, one in 15 seconds; what is no progress goes by whole.
show_progress() {
  local line end='\n' every=15 shown=0 open=
  if [ -t 1 ]; then end='\r' every=1; fi
  while IFS= read -r line; do
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\ ([0-9]+) ]]; then
      local done=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]} s=${BASH_REMATCH[3]}
      ((s - shown >= every)) || continue
      local left=$((s * (all - done) / done))
      printf "build %3d%%  %d of %d, %d:%02d, about %d:%02d left  $end" $((100 * done / all)) "$done" "$all" \
        $((s / 60)) $((s % 60)) $((left / 60)) $((left % 60))
      shown=$s open=$end
    elif [[ $line != 'ninja: no work to do.' && $line != 'ninja: Entering directory'* && $line != '-- '* ]]; then
      printf '%s\n' "$line"
    fi
  done
  if [ "$open" = '\r' ]; then printf '\n'; fi
}

# run_cases SUITE: a test binary; NAME_0 and NAME_1 are its cases by turns.
run_cases() {
  case "$1" in
    *_[01]) "$build/${1%_*}" --durations yes --shard "${1##*_}/2" ;;
    *) "$build/$1" --durations yes ;;
  esac
}

# run_suites LOGS SUITE...: side by side, each by the caller's run_suite; lines are shown with the suite's name and kept in LOGS. Adds up in
# failed, and in words in summary.
run_suites() {
  local logs=$1 suite good bad left closing passed=0 skipped=0
  shift
  mkdir -p "$logs"
  for suite in "$@"; do
    {
      set +e
      run_suite "$suite" 2>&1 | tee "$logs/$suite.log" | sed -u "s/^/${suite#berth_}: /"
      echo "${PIPESTATUS[0]}" >"$logs/$suite.code"
    } &
  done
  wait
  # Each suite closes with its own line; one that crashed before it could has failed, and so has one that ran nothing.
  failed=0
  for suite in "$@"; do
    closing=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$logs/$suite.log" | tail -1 || true)
    read -r good _ bad _ left _ <<<"${closing:-0 passed, 0 failed} 0"
    if [ "$(cat "$logs/$suite.code")" != 0 ] && [ "$bad" = 0 ]; then bad=1; fi
    if [ $((good + bad + ${left:-0})) = 0 ]; then bad=1; fi
    passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + left))
  done
  summary="$passed passed, $failed failed"
  if [ "$skipped" != 0 ]; then summary+=", $skipped skipped"; fi
}
