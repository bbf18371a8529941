# The options of the builds that the scripts share, for `. scripts/build-options.sh`.
#
# $unoptimized is like a debug build, but takes two thirds of the CPU time: one compiler process for each module instead of several
# that each read all its files or one more for its interface, and an index of our modules only. As it is a release configuration,
# swift-argument-parser doesn't validate the declarations of all options at each start of beagle, which takes half the time of a
# short run: HelpTests checks them once.
unoptimized="-c release -Xswiftc -Onone -Xswiftc -enable-testing -Xswiftc -DCOUNTS_LEFTOVERS -Xswiftc -num-threads -Xswiftc 2"
unoptimized="$unoptimized -Xswiftc -no-emit-module-separately-wmo -Xswiftc -index-ignore-system-modules"
# The build of ./check and ./demo. It has a folder of its own, so that a plain `swift build` remains incremental.
build_options="--scratch-path .build/check -debug-info-format none -Xswiftc -use-ld=lld $unoptimized"
