import Foundation

/// The memory that this process has in use; 0 where the system does not tell.
var residentBytes: Int {
    let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
    return (pages.flatMap { Int($0[1]) } ?? 0) * Int(getpagesize())
}

/// What is allocated at this moment, of all threads: unlike resident memory it does not depend on how the allocator cuts it. nil where
/// the C library is not glibc, whose `malloc_info` tells.
var allocatedBytes: Int? {
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
        let line = sums.split(separator: "\n").first { $0.contains("type=\"\(name)\"") }
        return line?.components(separatedBy: "size=\"").dropFirst().first.flatMap { Int($0.prefix(while: \.isNumber)) }
    }
    guard let arenas = size("current"), let small = size("fast"), let free = size("rest"), let mapped = size("mmap") else {
        return nil
    }
    return arenas - small - free + mapped
}
