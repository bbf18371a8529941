import BeagleNet
import Foundation

/// The CPU time and memory that the plan of a screen takes, beside `JSONSerialization`, which only parses it. Both run
/// in turn. With `prefetches URL`, the latency of fetches.
@main struct BenchScreen {
    private static let rounds = 41

    /// A way to read a document.
    private enum Reader: String, CaseIterable {
        case plan, foundation

        /// Reads a document, and returns a number so that the work isn't optimized away.
        func read(_ document: Data) throws -> Int {
            switch self {
            case .plan: try ParsedScreen(parsing: document).plan.references.count
            case .foundation: (try JSONSerialization.jsonObject(with: document) as? [String: Any])?.count ?? 0
            }
        }
    }

    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.count == 2, arguments[0] == "prefetches" { return try await FetchLatency.measure(arguments[1]) }
        if arguments.count == 2, let reader = Reader(rawValue: arguments[1]) {
            return try printPeak(URL(filePath: arguments[0]), reader)
        }
        for screen in Screens.allCases { try measure(screen) }
    }

    private static func measure(_ screen: Screens) throws {
        let document = try screen.document()
        var times: [Reader: [Double]] = [:]
        for _ in 0..<rounds {
            for reader in Reader.allCases {
                let start = cpuSeconds()
                _ = try reader.read(document)
                times[reader, default: []].append(cpuSeconds() - start)
            }
        }
        let speeds = Reader.allCases.map { reader in
            (reader, Double(document.count) / (times[reader] ?? [1]).sorted()[rounds / 2] / 1e6)
        }
        for (reader, speed) in speeds {
            let peak = try peak(document, reader)
            let name = "\(screen.rawValue) \(reader.rawValue)".padding(toLength: 20, withPad: " ", startingAt: 0)
            let milliseconds = Double(document.count) / speed / 1e3
            print(
                name,
                String(format: "%8.1f MB/s %7.3f ms", speed, milliseconds),
                String(format: "%7.1f x foundation", speed / speeds[1].1),
                String(format: "%6.2f x the document in memory", Double(peak) / Double(document.count))
            )
        }
    }

    /// The CPU time of the process so far. Other programs change it less than elapsed time.
    private static func cpuSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    // MARK: - Memory

    /// Returns the most memory that a document takes while it is read, itself included, in a process of its own.
    private static func peak(_ document: Data, _ reader: Reader) throws -> Int {
        let file = FileManager.default.temporaryDirectory.appending(path: "bench-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try document.write(to: file)
        let process = Process()
        process.executableURL = URL(filePath: CommandLine.arguments[0])
        process.arguments = [file.path, reader.rawValue]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Int(String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    }

    /// Prints the most memory that is resident while a document is read, beyond that before, plus the document's size.
    private static func printPeak(_ file: URL, _ reader: Reader) throws {
        // Loads the vocabulary and pages of code first, which every document needs.
        _ = try reader.read(Data(Screens.home.utf8))
        let document = try Data(contentsOf: file)
        let before = try memory("VmRSS")
        let count = try reader.read(document)
        let peak = try memory("VmHWM")
        print(count < 0 ? 0 : peak - before + document.count)
    }

    /// Returns a line of `/proc/self/status`, in bytes: `VmRSS` is resident now, `VmHWM` is the most so far.
    private static func memory(_ name: String) throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
        return (Int(line.filter(\.isNumber)) ?? 0) << 10
    }
}
