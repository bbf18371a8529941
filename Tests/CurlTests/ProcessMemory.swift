import Foundation
import Testing

/// What is allocated at this moment, of all threads: unlike resident memory it does not depend on how the allocator cuts
/// it. nil where the C library is not glibc, whose `malloc_info` tells.
private var allocatedBytes: Int? {
    typealias Inform = @convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32
    guard let symbol = dlsym(nil, "malloc_info") else { return nil }
    var bytes: UnsafeMutablePointer<CChar>?
    var count = 0
    guard let file = open_memstream(&bytes, &count) else { return nil }
    let status = unsafeBitCast(symbol, to: Inform.self)(0, file)
    fclose(file)
    defer { free(bytes) }
    guard status == 0, let bytes else { return nil }
    // The sums over all arenas stand behind the last of them.
    let sums = String(cString: bytes).components(separatedBy: "</heap>").last ?? ""
    func size(_ name: String) -> Int? {
        let line = sums.components(separatedBy: "type=\"\(name)\"").dropFirst().first
        let digits = line?.components(separatedBy: "size=\"").dropFirst().first?.prefix(while: \.isNumber)
        return digits.flatMap { Int($0) }
    }
    guard let arenas = size("current"), let mapped = size("mmap") else { return nil }
    guard let small = size("fast"), let other = size("rest") else { return nil }
    return arenas + mapped - small - other
}

/// Does something twice, and tells how many bytes more are allocated after the second time: beside other tests they are
/// theirs, too. nil where the system does not tell.
func growth(of work: () async throws -> Void) async throws -> Int? {
    try await work()
    guard let before = try await leastAllocatedBytes() else { return nil }
    try await work()
    return try await leastAllocatedBytes().map { $0 - before }
}

/// How many bytes more than at its start some work had in memory at its peak, where the process does nothing beside it. nil
/// where the system does not tell.
func peak(of work: () async throws -> Void) async throws -> Int? {
    guard let file = try? FileHandle(forWritingTo: URL(filePath: "/proc/self/clear_refs")) else {
        try await work()
        return nil
    }
    // Else what was let go of before would make room for what comes.
    typealias Trim = @convention(c) (Int) -> Int32
    if let symbol = dlsym(nil, "malloc_trim") { _ = unsafeBitCast(symbol, to: Trim.self)(0) }
    // Its peak is what it has now (proc(5)).
    try file.write(contentsOf: Data("5".utf8))
    let before = try residentPeak
    try await work()
    return try residentPeak - before
}

private var residentPeak: Int {
    get throws {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.filter(\.isNumber))) << 10
    }
}

/// What is allocated once the threads of transports that were let go have ended.
private func leastAllocatedBytes() async throws -> Int? {
    var least = allocatedBytes
    for _ in 0..<100 {
        try await Task.sleep(for: .milliseconds(10))
        least = [least, allocatedBytes].compactMap(\.self).min()
    }
    return least
}
