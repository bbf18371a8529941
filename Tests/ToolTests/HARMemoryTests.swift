#if os(Linux)
    import BeagleNetHTTP
    import BeagleNetReplay
    import Foundation
    import Testing

    /// Archives are processed one entry at a time, regardless of their size. `BEAGLENET_ARCHIVE` sets the megabytes
    /// of the large one (4 by default).
    @Suite(.serialized, .timeLimit(.minutes(5))) struct HARMemoryTests {
        private static let megabytes = ProcessInfo.processInfo.environment["BEAGLENET_ARCHIVE"].flatMap(Int.init) ?? 4
        private static let most = 16 << 20

        /// Writes an archive of at least so many bytes, in entries of 64 KiB with text and numbers.
        private func write(_ bytes: Int, to path: String) throws {
            let words = (0..<6_000).map { "word \($0 &* 2_654_435_761 % 1_000)" }.joined(separator: "\n")
            let start = Date(timeIntervalSince1970: 1_795_335_330)
            let writer = try HARWriter(to: path)
            for index in 0..<(bytes / words.utf8.count + 1) {
                var entry = LogEntry(
                    id: "\(index)",
                    started: start.addingTimeInterval(Double(index)),
                    request: LogEntry.Request(method: "GET", url: "https://h/\(index)?a=b")
                )
                entry.response = LogEntry.Response(status: 200, body: LogEntry.Body(.data(Data(words.utf8))))
                try writer.write(HARWriter.Entry(entry))
            }
            try writer.finish()
        }

        @Test func anArchiveIsNotHeldInMemory() async throws {
            try await withDirectory { directory in
                func peak(_ size: Int) async throws -> Int {
                    let (path, pipe) = ("\(directory)/\(size).har", "\(directory)/\(size).pipe")
                    try write(size, to: path)
                    let length = try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
                    #expect(mkfifo(pipe, 0o600) == 0)
                    let start = ContinuousClock.now
                    let process = try BeagleProcess(["har", "convert", path, "-o", pipe])
                    defer { process.kill() }
                    // Read all but the end, so that the process is still running.
                    let file = open(pipe, O_RDONLY)
                    defer { close(file) }
                    var buffer = [UInt8](repeating: 0, count: 256 << 10)
                    var rest = length - buffer.count
                    while rest > 0, case let count = read(file, &buffer, min(rest, buffer.count)), count > 0 {
                        rest -= count
                    }
                    #expect(rest == 0)
                    let rate = Double(length) / 1e6 / ((ContinuousClock.now - start) / .seconds(1))
                    print(
                        "converted \(length / 1_000_000) MB, \(Int(rate)) MB/s, peak \(try process.peakMemory >> 10) KiB"
                    )
                    return try process.peakMemory
                }
                let (small, large) = (try await peak(1_000_000), try await peak(Self.megabytes * 1_000_000))
                #expect(large - small < Self.most, "\(small >> 10) KiB, then \(large >> 10)")
                let start = ContinuousClock.now
                let check = try await beagle("har", "validate", "\(directory)/\(Self.megabytes * 1_000_000).har")
                #expect(check.exit == 0, "\(check.errors)")
                #expect(check.lines.first?.hasSuffix("0 errors, 0 hints") == true, "\(check.text)")
                print("checked \(Self.megabytes) MB in \(ContinuousClock.now - start)")
            }
        }
    }
#endif
