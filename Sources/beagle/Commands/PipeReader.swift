import BeagleNetHTTP
import Dispatch
import Foundation

/// Reads standard input, or another file that isn't a regular file, in chunks on demand. Reads may block.
final class PipeReader: Sendable {
    private static let pieceSize = 64 << 10

    private let path: String
    private let descriptor: Int32

    /// Takes ownership of an open descriptor.
    ///
    /// - Parameter path: The name for error messages.
    init(_ descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit {
        close(descriptor)
    }

    /// The contents as a body of unknown length.
    var body: HTTPBody {
        .stream { AsyncThrowingStream { try await self.next() } }
    }

    private func next() async throws -> Data? {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try self.read() }) }
        }
    }

    private func read() throws -> Data? {
        var buffer = [UInt8](repeating: 0, count: Self.pieceSize)
        while true {
            let count = Foundation.read(descriptor, &buffer, buffer.count)
            if count >= 0 { return count == 0 ? nil : Data(buffer[..<count]) }
            if errno != EINTR { throw NetworkError.file("cannot read", path, errno) }
        }
    }
}
