import BeagleNetHTTP
import CurlPeers

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A blocking TCP connection to a port of this machine, for testing servers without libcurl.
struct RawClient: ~Copyable {
    private let descriptor: Int32

    init(port: UInt16) throws {
        #if canImport(Glibc)
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard connectsTo(port, descriptor) else {
            throw NetworkError(.connect, during: .connect, String(cString: strerror(errno)))
        }
    }

    deinit {
        close(descriptor)
    }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(descriptor, bytes, bytes.count)
    }

    /// Reads until the connection ends or the received text ends with `mark`. Returns `nil` if the peer resets the
    /// connection or is silent.
    func text(upTo mark: String? = nil) -> String? {
        var received: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while mark.map({ !String(decoding: received, as: UTF8.self).hasSuffix($0) }) ?? true {
            // A read that would block forever fails the test instead.
            var readable = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&readable, 1, 10_000) == 1 else { return nil }
            let count = read(descriptor, &piece, piece.count)
            if count < 0 { return nil }
            if count == 0 { break }
            received += piece[..<count]
        }
        return String(decoding: received, as: UTF8.self)
    }
}
