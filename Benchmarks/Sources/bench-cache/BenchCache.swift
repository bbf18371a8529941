import BeagleNet
import BeagleNetDiskCache
import BenchApp
import Foundation
import HTTPTypes

/// The cost of responses from the cache: from memory through the whole client as an app configures it, and from the
/// disk; of opening a large store; and how far a store exceeds its size limit.
///
/// Figures are medians of rounds. Hits follow each other, because nothing of them waits for a network. An argument
/// selects a part: `memory`, `disk`, `open` or `limit`.
@main struct BenchCache {
    static func main() async throws {
        let part = CommandLine.arguments.dropFirst().first
        func isChosen(_ name: String) -> Bool { part == nil || part == name }
        if isChosen("memory") { try await hitsInMemory() }
        let folder = FileManager.default.temporaryDirectory.appending(path: "bench-cache-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer {
            do { try FileManager.default.removeItem(at: folder) } catch { print("cannot remove the folder: \(error)") }
        }
        if isChosen("disk") { try await hitsOnDisk(folder.appending(path: "hits").path) }
        if isChosen("open") { try await opening(folder.appending(path: "many").path) }
        if isChosen("limit") { try await sizeLimit(folder.appending(path: "limit").path) }
    }

    // MARK: - Hits

    /// Requests for responses of 2 KB, each found in the container as an app finds it.
    private static func hitsInMemory() async throws {
        let url = try address("https://example.com/home")
        let dependencies = BeagleDependencies()
        dependencies.configure(likeAnAppAt: url, logsAll: false)
        dependencies.interceptors.add(CacheInterceptor())
        // The responses to requests with the app's header are stored for a user only.
        dependencies.partition = "user"
        let server = OneResponse(Data(repeating: 0x20, count: 2_048))
        dependencies.networkClient = NetworkClientDefault(dependencies: dependencies, transport: server)
        Beagle.dependencies = dependencies
        let types: [(String, Request.RequestType)] = [
            ("raw", .rawRequest(Request.RequestData(headers: [:]))), ("screen", .fetchComponent),
        ]
        let count = 20_000
        for (name, type) in types {
            dependencies.policy = type.isRaw ? .http : .cacheFirst
            let request = Request(url: url, type: type)
            // The token is loaded once.
            _ = try await Beagle.dependencies.networkClient.executeRequest(request)
            let inTasks = try await Cost.median(of: 21, each: count) {
                for _ in 0..<count { _ = try await Beagle.dependencies.networkClient.executeRequest(request) }
            }
            let completed = Cost.median(of: 21, each: count) {
                for _ in 0..<count {
                    Beagle.dependencies.networkClient.executeRequest(request) { result in
                        if case .failure(let error) = result { print(error) }
                    }
                }
            }
            for (way, cost) in [("", inTasks), (" completion", completed)] {
                print(
                    "memory hit, 2 KB, \(name)\(way)".padding(toLength: 32, withPad: " ", startingAt: 0),
                    String(format: "%6.2f us, %.2f us on", cost.microseconds, cost.onThread),
                    String(format: "the caller's thread, %.1f allocations", cost.allocations)
                )
            }
        }
        if server.count != types.count { print("the server was asked \(server.count) times") }
    }

    private static func hitsOnDisk(_ folder: String) async throws {
        let disk = try DiskResponseStore(folder: folder)
        let steps = [(2_048, ""), (50_000, ""), (50_000, " later")]
        for (size, remark) in steps {
            let key = key("/\(size)")
            await disk.insert(response(size), for: key)
            // Once a program has freed a large block, glibc keeps freed memory for longer (mallopt(3),
            // M_TRIM_THRESHOLD).
            if !remark.isEmpty, Data(repeating: 1, count: 1 << 20).last != 1 { throw Missing() }
            let cost = try await Cost.median(of: 21, each: 200) {
                for _ in 0..<200 {
                    guard await disk.responses(for: key).first?.body.count == size else { throw Missing() }
                }
            }
            let name = "disk hit, \(size / 1_000) KB\(remark)".padding(toLength: 32, withPad: " ", startingAt: 0)
            print(name, String(format: "%6.1f us, %.1f us of CPU", cost.elapsed, cost.microseconds))
        }
    }

    // MARK: - Large stores

    private static func opening(_ folder: String) async throws {
        let count = CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 100_000
        do {
            let disk = try DiskResponseStore(folder: folder, maxBytes: 8 << 30)
            let response = response(300)
            for number in 0..<count { await disk.insert(response, for: key("/\(number)")) }
        }
        var times: [Double] = []
        var memory = 0
        for _ in 0..<11 {
            let before = residentBytes()
            let start = ContinuousClock.now
            let disk = try DiskResponseStore(folder: folder, maxBytes: 8 << 30)
            times.append((ContinuousClock.now - start) / .milliseconds(1))
            memory = max(memory, residentBytes() - before)
            guard await disk.responses(for: key("/77")).count == 1 else { throw Missing() }
        }
        let text = String(format: "%.1f ms, largest growth of memory %d kB", times.sorted()[5], memory / 1_000)
        print("opening \(count) entries".padding(toLength: 32, withPad: " ", startingAt: 0), text)
    }

    /// Writes 40 times the limit, and looks at the size of the folder after each response.
    private static func sizeLimit(_ folder: String) async throws {
        let limit = 20 << 20
        let disk = try DiskResponseStore(folder: folder, maxBytes: limit)
        var (written, largest) = (0, 0)
        var generator = SystemRandomNumberGenerator()
        while written < 40 * limit {
            let size = Int.random(in: 100...400_000, using: &generator)
            await disk.insert(response(size), for: key("/\(written)"))
            written += size
            largest = max(largest, bytes(in: folder))
        }
        let ratio = Double(largest) / Double(limit)
        print(
            "folder of at most 20 MiB".padding(toLength: 32, withPad: " ", startingAt: 0),
            String(format: "%.3f of the limit at most, without the write-ahead log", ratio)
        )
    }

    /// The bytes that the files of a folder take, without SQLite's log and index of it.
    private static func bytes(in folder: String) -> Int {
        let files = FileManager.default.enumerator(atPath: folder)
        var sum = 0
        while let name = files?.nextObject() as? String {
            if name.hasSuffix("-wal") || name.hasSuffix("-shm") { continue }
            if files?.fileAttributes?[.type] as? FileAttributeType == .typeRegular {
                sum += files?.fileAttributes?[.size] as? Int ?? 0
            }
        }
        return sum
    }

    // MARK: - Samples

    private static func key(_ target: String) -> ResponseKey {
        ResponseKey(scheme: "https", authority: "example.com", target: target)
    }

    private static func response(_ size: Int) -> StoredResponse {
        StoredResponse(
            head: HTTPResponse(
                status: .ok,
                headerFields: [.cacheControl: "max-age=86400", .contentType: "text/plain"]
            ),
            body: Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* $0) }),
            url: "https://example.com/",
            requestTime: Date(),
            responseTime: Date()
        )
    }

    private static func address(_ text: String) throws -> URL {
        guard let url = URL(string: text) else { throw Missing() }
        return url
    }

    /// The memory of this process that is in use.
    private static func residentBytes() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4_096
    }
}

extension Request.RequestType {
    fileprivate var isRaw: Bool { if case .rawRequest = self { true } else { false } }
}

/// A response that the store should have wasn't found.
private struct Missing: Error {}
