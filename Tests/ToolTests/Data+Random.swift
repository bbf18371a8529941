import Foundation

extension Data {
    /// Returns random bytes, eight from each call, because a call takes long without optimization.
    static func random(count: Int) -> Data {
        let words = (0..<(count + 7) / 8).map { _ in UInt64.random(in: .min ... .max) }
        return words.withUnsafeBytes { Data($0.prefix(count)) }
    }
}
