#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// A reader for a file, in chunks of 128 KiB.
///
/// The file is opened by the first read and closed when the reader is released.
package final class FileReader: Sendable {
    private static let pieceSize = 128 << 10

    private let path: String
    private let state = Lock<(file: OpenFile?, position: Int64)>((nil, 0))

    package init(path: String) {
        self.path = path
    }

    /// Creates a reader for a file that is already open.
    package convenience init(_ file: OpenFile, path: String) {
        self.init(path: path)
        state.withLock { $0.file = file }
    }

    /// Returns the next chunk, or `nil` at the end.
    package func next() throws(NetworkError) -> Data? {
        try state.withLock { state throws(NetworkError) -> Data? in
            let file = if let file = state.file { file } else { try OpenFile(reading: path) }
            state.file = file
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceSize, alignment: 1)
            defer { buffer.deallocate() }
            let count = try file.read(into: buffer, at: state.position)
            state.position += Int64(count)
            return count == 0 ? nil : Data(buffer[..<count])
        }
    }
}
