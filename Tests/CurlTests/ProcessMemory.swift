import Foundation
import Testing

/// The number of bytes that all threads have allocated now. Unlike resident memory it doesn't depend on fragmentation.
/// `nil` if the C library isn't glibc, which has `malloc_info`.
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
    // The totals of all arenas follow the last arena.
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

/// Performs some work twice and returns how many more bytes are allocated after the second time, including those of
/// other running tests. Returns `nil` if the system doesn't report them.
func growth(of work: () async throws -> Void) async throws -> Int? {
    try await work()
    guard let before = try await leastAllocatedBytes() else { return nil }
    try await work()
    return try await leastAllocatedBytes().map { $0 - before }
}

/// Returns the growth of the resident memory during some work, from its start to its peak, in bytes. The process must
/// do nothing else. Returns `nil` if the system doesn't report it.
func peak(of work: () async throws -> Void) async throws -> Int? {
    guard let file = try? FileHandle(forWritingTo: URL(filePath: "/proc/self/clear_refs")) else {
        try await work()
        return nil
    }
    // Otherwise the work could use memory that was freed before.
    typealias Trim = @convention(c) (Int) -> Int32
    if let symbol = dlsym(nil, "malloc_trim") { _ = unsafeBitCast(symbol, to: Trim.self)(0) }
    // Resets the peak to the current size (proc(5)).
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

/// The allocated bytes after the threads of released transports have ended.
private func leastAllocatedBytes() async throws -> Int? {
    var least = allocatedBytes
    for _ in 0..<100 {
        try await Task.sleep(for: .milliseconds(10))
        least = [least, allocatedBytes].compactMap(\.self).min()
    }
    return least
}
