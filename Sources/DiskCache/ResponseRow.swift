import BeagleNetCache
import BeagleNetHTTP
import Foundation
import GRDB

/// A stored response as a row.
struct ResponseRow: Sendable {
    let id: Int64
    let key: Data
    let selecting: String
    /// The time of the last use, in milliseconds since 1970.
    let used: Int64
    let isSealed: Bool
    let headDigest: Data
    let bodyDigest: Data
    let bodyBytes: Int
    /// The file of the body; `nil` if the body is in the row.
    let file: String?
    let head: Data
    /// The body; `nil` if it is in a file, or wasn't selected.
    let body: Data?

    static let columns = "id, key, selecting, used, is_sealed, head_digest, body_digest, body_bytes, file, head"

    init(_ row: Row) {
        (id, key, selecting, used, isSealed) = (row[0], row[1], row[2], row[3], row[4])
        (headDigest, bodyDigest, bodyBytes, file, head) = (row[5], row[6], row[7], row[8], row[9])
        body = row.count > 10 ? row[10] : nil
    }
}
