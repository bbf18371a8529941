import BeagleNet
import BeagleNetReplay
import Dispatch

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A program for tests that need a separate process.
///
/// `write DIRECTORY FIRST` records requests with numbers from FIRST until it is killed, and prints a line `start N` and
/// `end N` for each when that is acknowledged. `limit DIRECTORY` records into files that must not grow,
/// `fork DIRECTORY` in a child and its parent. `fault DIRECTORY PLACE CODE` records while writes to files whose paths
/// contain PLACE fail with this system error, `full DIRECTORY FILE` while FILE fills the disk; both also record before
/// and afterwards. `ask URL` is an app that sends a request; `ask URL --allow` lets the environment control whether it
/// is recorded.
@main
struct RecordProbe {
    static func main() async {
        let arguments = CommandLine.arguments
        do {
            switch arguments.dropFirst().first {
            case "write" where arguments.count == 4:
                try await write(RequestLog(directory: arguments[2]), from: Int(arguments[3]) ?? 0)
            case "limit" where arguments.count == 3: try await limit(arguments[2])
            case "fault" where arguments.count == 5:
                try await fault(arguments[2], at: arguments[3], Int32(arguments[4]) ?? 0)
            case "full" where arguments.count == 4: try await full(arguments[2], arguments[3])
            case "fork" where arguments.count == 3: try fork(arguments[2])
            case "ask" where arguments.count > 2: try await ask(arguments[2], arguments.dropFirst(3) == ["--allow"])
            default: exit(64)
            }
        } catch {
            say("\(error)")
            exit(1)
        }
    }

    // MARK: App

    private static func ask(_ text: String, _ allows: Bool) async throws {
        guard let url = URL(string: text) else { exit(64) }
        let dependencies = BeagleDependencies()
        if allows { try dependencies.allow(.log) }
        let answer = try await dependencies.networkClient.executeRequest(Request(url: url, type: .rawRequest(.init())))
        say(String(decoding: answer.data, as: UTF8.self))
    }

    // MARK: Killed

    /// Sends four requests at a time. The body of every third is stored in a file.
    private static func write(_ log: RequestLog, from first: Int) async {
        let client = RecordingClient(
            StubClient { request in
                await log.flush()
                let number = Int(request.url.lastPathComponent) ?? 0
                say("start \(number)")
                await Task.yield()
                return answer(number)
            },
            log: log
        )
        await withTaskGroup(of: Void.self) { group in
            for lane in 0..<4 {
                group.addTask {
                    for number in sequence(first: first + lane, next: { $0 + 4 }) {
                        guard let url = URL(string: "http://a.example/\(number)") else { exit(64) }
                        let request = Request(url: url, type: .fetchImage)
                        do { _ = try await client.executeRequest(request) } catch { exit(1) }
                        await log.flush()
                        say("end \(number)")
                    }
                }
            }
        }
    }

    /// An image with unique bytes: those of the number, repeated.
    private static func answer(_ number: Int) -> NetworkResponse {
        let bytes = withUnsafeBytes(of: UInt64(number).littleEndian) { Array($0) }
        let body = Data(Array(repeatElement(bytes, count: number % 3 == 0 ? 5_000 : 10)).joined())
        let fields: HTTPFields = [.contentType: "image/png"]
        return NetworkResponse(data: body, response: HTTPResponse(status: .ok, headerFields: fields))
    }

    // MARK: Full disk

    private final class Warnings: BeagleLogger {
        let count = Lock(0)

        func log(_ log: any LogType) { count.withLock { $0 += 1 } }
    }

    /// Requests continue while writing is impossible; later requests are recorded again.
    private static func limit(_ directory: String) async throws {
        let warnings = Warnings()
        var options = RequestLog.Options()
        options.logger = warnings
        options.pauseAfterFailure = .milliseconds(1)
        let log = try RequestLog(directory: directory, options: options)
        signal(SIGXFSZ, SIG_IGN)
        let before = setLimit(20_000)
        let client = RecordingClient(StubClient { _ in NetworkResponse(text: "hello") }, log: log)
        guard let url = URL(string: "http://a.example/") else { exit(64) }
        for _ in 0..<200 { _ = try await client.executeRequest(Request(url: url, type: .fetchComponent)) }
        await log.flush()
        say("warned \(warnings.count.withLock { $0 })")
        setLimit(before)
        usleep(10_000)
        log.note("there is room")
        await log.flush()
        log.append(LogEntry(started: Date(), request: LogEntry.Request(method: "GET", url: "http://a.example/last")))
        await log.close()
    }

    /// - Returns: The previous limit.
    @discardableResult
    private static func setLimit(_ bytes: rlim_t) -> rlim_t {
        var limit = rlimit()
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(1)
        #else
            let resource = RLIMIT_FSIZE
        #endif
        getrlimit(resource, &limit)
        defer { setrlimit(resource, &limit) }
        let before = limit.rlim_cur
        limit.rlim_cur = bytes
        return before
    }

    // MARK: Disk with a fault

    private static func fault(_ directory: String, at place: String, _ code: Int32) async throws {
        #if canImport(Glibc) && !SANITIZE_THREAD
            try await record(in: directory) {
                // If the directory is missing, the log writes all its files again.
                if place == "meta.json" { try FileManager.default.removeItem(atPath: directory) }
                Disk.set(Disk.Fault(place: place, code: code))
            } recovery: {
                Disk.set(nil)
            }
        #else
            exit(64)
        #endif
    }

    private static func full(_ directory: String, _ ballast: String) async throws {
        try await record(in: directory) {
            let file = try OpenFile(creating: ballast)
            // Until the disk has no space for another byte.
            for count in [64 << 10, 1] {
                let bytes = [UInt8](repeating: 0, count: count)
                do { while true { try bytes.withUnsafeBytes { try file.write($0) } } } catch {}
            }
        } recovery: {
            try FileManager.default.removeItem(atPath: ballast)
        }
    }

    /// Records ten requests before a fault, a hundred during it, and ten afterwards.
    private static func record(
        in directory: String,
        fault: () throws -> Void,
        recovery: () throws -> Void
    ) async throws {
        let warnings = Warnings()
        var options = RequestLog.Options()
        options.logger = warnings
        options.pauseAfterFailure = .milliseconds(1)
        let log = try RequestLog(directory: directory, options: options)
        let client = RecordingClient(StubClient { answer(Int($0.url.lastPathComponent) ?? 0) }, log: log)
        func ask(_ numbers: Range<Int>) async throws {
            for number in numbers {
                guard let url = URL(string: "http://a.example/\(number)") else { exit(64) }
                _ = try await client.executeRequest(Request(url: url, type: .fetchImage))
            }
            await log.flush()
        }
        try await ask(0..<10)
        try fault()
        try await ask(10..<110)
        try recovery()
        usleep(10_000)
        try await ask(110..<120)
        await log.close()
        say("warned \(warnings.count.withLock { $0 })")
    }

    // MARK: Forked

    private static func fork(_ directory: String) throws {
        let log = try RequestLog(directory: directory)
        log.append(LogEntry(started: Date(), request: LogEntry.Request(method: "GET", url: "http://a.example/parent")))
        log.waitUntilWritten()
        // Swift hides `fork` because a child can only use functions that work with a single thread.
        guard let symbol = dlsym(nil, "fork") else { exit(2) }
        let fork = unsafeBitCast(symbol, to: (@convention(c) () -> Int32).self)
        while try countOfRunningThreads() > 1 { usleep(1_000) }
        let child = fork()
        if child == 0 {
            // Ends a hanging child.
            alarm(200)
            log.append(
                LogEntry(started: Date(), request: LogEntry.Request(method: "GET", url: "http://a.example/child"))
            )
            log.waitUntilWritten()
            _exit(0)
        }
        var status: Int32 = 0
        guard waitpid(child, &status, 0) == child, status == 0 else { exit(3) }
        log.append(LogEntry(started: Date(), request: LogEntry.Request(method: "GET", url: "http://a.example/again")))
        // The last entry is written when the process exits.
        exit(0)
    }

    /// The number of threads that don't sleep, including the current one.
    ///
    /// A lock that another of them holds would remain locked in a child.
    private static func countOfRunningThreads() throws -> Int {
        #if os(Linux)
            let folder = "/proc/self/task"
            return try FileManager.default.contentsOfDirectory(atPath: folder).count { thread in
                do {
                    let state = try String(contentsOfFile: "\(folder)/\(thread)/stat", encoding: .utf8)
                    return state.split(separator: ")").last?.hasPrefix(" S") == false
                } catch {
                    return false  // It has ended.
                }
            }
        #else
            return 1
        #endif
    }

    /// Prints a line with a single unbuffered write.
    private static func say(_ line: String) {
        var bytes = Array("\(line)\n".utf8)
        #if canImport(Glibc)
            let count = Glibc.write(STDOUT_FILENO, &bytes, bytes.count)
        #elseif canImport(Musl)
            let count = Musl.write(STDOUT_FILENO, &bytes, bytes.count)
        #else
            let count = Darwin.write(STDOUT_FILENO, &bytes, bytes.count)
        #endif
        if count < 0 { exit(2) }
    }
}
