import Foundation

/// The memory that this process has in use; 0 where the system does not tell.
var residentBytes: Int {
    let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
    return (pages.flatMap { Int($0[1]) } ?? 0) * Int(getpagesize())
}
