#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The head of a message, byte by byte as it was sent. It holds whatever credentials the message had: `description`
/// and reflection show its size alone.
public struct WireHead: Sendable, Hashable {
    /// The request line and header lines up to the empty line, secrets included. Of HTTP/2, what libcurl makes its
    /// frames of: the same lines in the spelling of HTTP/1.1.
    public let bytes: Data

    /// A head of these bytes.
    public init(_ bytes: Data) {
        self.bytes = bytes
    }

    /// Gives names and values in the order and spelling in which they were sent: of whole lines, as of a head that was cut
    /// off the last one may say anything.
    package func forEachField(_ body: (_ name: String, _ value: String) -> Void) {
        bytes.withUnsafeBytes { head in
            head.withMemoryRebound(to: UInt8.self) { HeadScanner.forEachField(of: $0, body) }
        }
    }
}

extension WireHead: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// How long the head is.
    public var description: String { "\(bytes.count) bytes" }
    /// How long the head is.
    public var debugDescription: String { description }
    /// Without children: a dump would show the bytes.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
