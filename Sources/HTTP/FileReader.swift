#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif
#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Reads a file in pieces of 128 KiB. Opened by the first read, closed at the end or with the reader.
package final class FileReader: Sendable {
    private enum State {
        case unopened, open(Int32), ended
    }

    private let path: String
    private let state = Lock(State.unopened)

    package init(path: String) {
        self.path = path
    }

    deinit {
        state.withLock { state in
            if case .open(let descriptor) = state { close(descriptor) }
        }
    }

    /// The next piece, or nil at the end.
    package func next() throws(NetworkError) -> Data? {
        try state.withLock { state throws(NetworkError) in
            if case .unopened = state { state = .open(try open()) }
            guard case .open(let descriptor) = state else { return nil }
            let piece = try read(descriptor)
            if piece == nil {
                close(descriptor)
                state = .ended
            }
            return piece
        }
    }

    private func open() throws(NetworkError) -> Int32 {
        #if canImport(Glibc)
            let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        #elseif canImport(Musl)
            let descriptor = Musl.open(path, O_RDONLY | O_CLOEXEC)
        #else
            let descriptor = Darwin.open(path, O_RDONLY | O_CLOEXEC)
        #endif
        guard descriptor >= 0 else { throw .file("cannot open", path, errno) }
        return descriptor
    }

    private func read(_ descriptor: Int32) throws(NetworkError) -> Data? {
        var bytes = [UInt8](repeating: 0, count: 128 << 10)
        while true {
            let count = bytes.withUnsafeMutableBytes { buffer in
                #if canImport(Glibc)
                    Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                #elseif canImport(Musl)
                    Musl.read(descriptor, buffer.baseAddress, buffer.count)
                #else
                    Darwin.read(descriptor, buffer.baseAddress, buffer.count)
                #endif
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .file("cannot read", path, errno) }
            return count == 0 ? nil : Data(bytes[..<count])
        }
    }
}

extension NetworkError {
    /// An error of the file system.
    package static func file(_ what: String, _ path: String, _ code: Int32) -> NetworkError {
        NetworkError(.file, during: .file, "\(what) \(path): \(String(cString: strerror(code)))")
    }
}
