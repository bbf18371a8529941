#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Does the work that the command line asks for and prints the report.
///
/// - Parameters:
///   - client: The name in the report.
///   - arguments: The work.
///   - park: A function that begins a silent stream and returns an object that keeps it, if the client supports that.
///   - ask: A function that performs a request and returns the number of bytes of its body. It throws if the status
///     isn't 200.
public func measure(
    _ client: String,
    _ arguments: Arguments,
    park: @Sendable () async throws -> any Sendable = { throw CannotPark() },
    ask: @escaping @Sendable () async throws -> Int
) async throws {
    try await measure(client, arguments, TaskLoop(ask: ask), park: park)
}

/// Does the work through completions, and prints the report.
///
/// - Parameters:
///   - client: The name in the report.
///   - arguments: The work.
///   - begin: A function that begins a request. Its completion receives the number of bytes of the body, or an error if
///     the status isn't 200.
public func measure(
    _ client: String,
    _ arguments: Arguments,
    begin: @escaping @Sendable (@escaping @Sendable (Result<Int, any Error>) -> Void) -> Void
) async throws {
    try await measure(client, arguments, CallbackLoop(begin: begin), park: { throw CannotPark() })
}

private func measure(
    _ client: String,
    _ arguments: Arguments,
    _ loop: some ClosedLoop,
    park: @Sendable () async throws -> any Sendable
) async throws {
    var report = Report(client, arguments)
    switch arguments.shape {
    case .small, .big: await measureSpeed(of: loop, arguments, &report)
    case .parked:
        var streams: [any Sendable] = []
        for _ in 0..<arguments.parked { streams.append(try await park()) }
        await measureSpeed(of: loop, arguments, &report)
        withExtendedLifetime(streams) {}
    case .waiting: await measureMemory(of: loop, arguments, &report)
    case .cold: await measureStart(of: loop, &report)
    }
    report.print()
}

/// An error for a client that can't hold streams.
public struct CannotPark: Error {
    /// An error.
    public init() {}
}

private func measureSpeed(of loop: some ClosedLoop, _ arguments: Arguments, _ report: inout Report) async {
    // Opens connections and fills caches before the measurement.
    if arguments.shape != .big {
        _ = await loop.run(max(arguments.tasks, 500), tasks: arguments.tasks)
    }
    let before = Usage.now()
    let start = monotonicTime()
    let outcome = await loop.run(arguments.requests, tasks: arguments.tasks)
    let seconds = Double(monotonicTime() - start) / 1e9
    let after = Usage.now()

    let count = Double(arguments.requests)
    let user = (after.userSeconds - before.userSeconds) * 1e6 / count
    let system = (after.systemSeconds - before.systemSeconds) * 1e6 / count
    let latencies = outcome.latencies.sorted()
    report.add("failures", outcome.failures)
    report.add("requestsPerSecond", count / seconds)
    report.add("cpuMicros", user + system)
    report.add("userMicros", user)
    report.add("systemMicros", system)
    report.add("medianMicros", Int(latencies[latencies.count / 2]))
    report.add("p99Micros", Int(latencies[latencies.count * 99 / 100]))
    report.add("gigabytesPerSecond", Double(outcome.bytes) / seconds / 1e9)
    report.add("peakMemoryKiB", after.peakMemory)
}

/// Memory is read when all answers have begun and none has ended.
private func measureMemory(of loop: some ClosedLoop, _ arguments: Arguments, _ report: inout Report) async {
    let base = residentMemory()
    let before = Usage.now()
    async let outcome = loop.run(arguments.tasks, tasks: arguments.tasks)
    do {
        try await Task.sleep(for: .seconds(4))
    } catch {
        printError("interrupted")
    }
    let inFlight = residentMemory()
    let failures = await outcome.failures
    let after = Usage.now()
    report.add("failures", failures)
    report.add("memoryPerRequestKiB", Double(inFlight - base) / Double(arguments.tasks))
    report.add("cpuSeconds", after.userSeconds + after.systemSeconds - before.userSeconds - before.systemSeconds)
}

/// `BENCH_STARTED`: the time at which `run` started the process, in nanoseconds of the monotonic clock.
private func measureStart(of loop: some ClosedLoop, _ report: inout Report) async {
    let outcome = await loop.run(1, tasks: 1)
    let end = monotonicTime()
    let started = getenv("BENCH_STARTED").flatMap { UInt64(String(cString: $0)) } ?? end
    report.add("failures", outcome.failures)
    report.add("coldMillis", Double(end - started) / 1e6)
    report.add("peakMemoryKiB", Usage.now().peakMemory)
}
