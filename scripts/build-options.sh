# The options of the debug build that ./check and ./demo share, for `. scripts/build-options.sh`.
#
# Compared with a plain `swift build` this takes about two thirds of the CPU time: one compiler process for each module instead
# of several that each read all its files, and no debug information. It has a folder of its own, so that a plain `swift build`
# remains incremental.
whole_module="-Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 2"
build_options="--scratch-path .build/check -debug-info-format none $whole_module"
