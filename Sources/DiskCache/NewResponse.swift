import BeagleNetCache
import BeagleNetHTTP
import Foundation
import GRDB

/// A response to insert.
struct NewResponse: Sendable {
    /// The unit in which sizes count, in bytes: the page size of SQLite and of most file systems.
    static let unit = 4_096
    /// An estimate of the bytes of a row without head and body, and of its entries in the indexes.
    private static let overhead = 512

    let key: Data
    let origin: Data
    let partition: Data
    let selecting: String
    let isSealed: Bool
    let head: Data
    let headDigest: Data
    let body: Data
    let bodyDigest: Data

    /// The space that the response takes, in whole pages.
    var size: Int {
        let bytes = head.count + body.count + selecting.utf8.count + Self.overhead
        return (bytes + Self.unit - 1) / Self.unit * Self.unit
    }
}
