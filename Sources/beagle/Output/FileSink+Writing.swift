import BeagleNetHTTP
import Foundation

extension FileSink {
    /// Writes a whole file atomically. A pipe or device is written directly.
    ///
    /// - Parameter isPrivate: Whether only its owner may read the file; `false` by default.
    static func write(_ data: Data, to path: String, isPrivate: Bool = false) throws(NetworkError) {
        let sink = try FileSink(path: path, mayBlock: true, isPrivate: isPrivate)
        try sink.write(data)
        try sink.commit()
    }
}
