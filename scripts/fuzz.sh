#!/bin/bash
# Fuzzes everything that parses external input, with AddressSanitizer.
#
#   scripts/fuzz.sh [SECONDS [TARGET...]]     10 seconds for each target by default
#
# If an input crashes or hangs a target, it is stored in .build-fuzz/found/, and the command that repeats the run is printed.
# Add inputs that are worth keeping to Tests/FuzzTests/Corpus/TARGET.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-10}
shift || true
if [ $# = 0 ]; then set -- json redactor url request head decoder range events multipart frames handshake cookie redirect challenge altsvc body har filter log document pieces socket image screen; fi

# libFuzzer reports crashes itself; Swift's backtrace would only slow it down.
export SWIFT_BACKTRACE=enable=no
export BEAGLENET_FUZZ=1
build=(swift build --product Fuzz --sanitize=address --sanitize=fuzzer --scratch-path .build-fuzz)
"${build[@]}"
fuzzer=$("${build[@]}" --show-bin-path)/Fuzz

# fuzz TARGET: runs one target, and prints its result.
fuzz() {
    local target=$1 corpus=.build-fuzz/corpus/$1 log=.build-fuzz/$1.log input
    mkdir -p "$corpus"
    if BEAGLENET_FUZZ_TARGET=$target "$fuzzer" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=4096 \
        -artifact_prefix=".build-fuzz/found/$target-" "$corpus" "Tests/FuzzTests/Corpus/$target" >"$log" 2>&1
    then
        echo "$target: $(sed -n 's/^Done \([0-9]*\) runs.*/\1 inputs, no failure/p' "$log")"
        return
    fi
    input=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
    # One write, so that targets that run at the same time don't mix their lines. With the base64 text, the log of a CI run is
    # enough to repeat the failure.
    echo "$target: failed
$(grep -m 5 -E 'Fatal error|Precondition failed|ERROR: |SUMMARY' "$log")
    BEAGLENET_FUZZ_TARGET=$target $fuzzer $input
    base64: $(base64 -w 0 "$input")"
    return 1
}

# As many targets at the same time as there are cores.
mkdir -p .build-fuzz/found
export -f fuzz
export fuzzer seconds
printf '%s\n' "$@" | xargs -P "$(getconf _NPROCESSORS_ONLN)" -I TARGET bash -c 'fuzz TARGET'
