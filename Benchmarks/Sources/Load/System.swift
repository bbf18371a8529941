#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The time of the monotonic clock, in nanoseconds.
func monotonicTime() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// Writes a line to standard error.
public func printError(_ text: String) {
    let line = text + "\n"
    write(STDERR_FILENO, line, line.utf8.count)
}

/// The resources that the process has used so far.
struct Usage {
    let userSeconds: Double
    let systemSeconds: Double
    /// The most memory that was resident, in KiB (Linux; bytes on Darwin).
    let peakMemory: Int

    static func now() -> Usage {
        var usage = rusage()
        #if canImport(Glibc)
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        #else
            getrusage(RUSAGE_SELF, &usage)
        #endif
        return Usage(
            userSeconds: seconds(usage.ru_utime),
            systemSeconds: seconds(usage.ru_stime),
            peakMemory: usage.ru_maxrss
        )
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1e6
    }
}

/// The resident memory, in KiB; 0 on systems without /proc.
func residentMemory() -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var line = [UInt8](repeating: 0, count: 128)
    let count = fread(&line, 1, line.count, file)
    let pages = String(decoding: line.prefix(count), as: UTF8.self).split(separator: " ").dropFirst().first
    return (pages.flatMap { Int($0) } ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE))) / 1024
}
