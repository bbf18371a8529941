#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension TransferMetrics {
    /// The exact bytes of a request head as it was sent.
    ///
    /// It contains any credentials of the request. `description` and reflection show only its size.
    public struct WireHead: Sendable, Hashable {
        /// The request line and header lines up to the empty line, including secrets.
        ///
        /// For HTTP/2, these are the lines that libcurl converts to frames, in HTTP/1.1 syntax.
        public let bytes: Data

        /// Creates a head from bytes.
        public init(_ bytes: Data) {
            self.bytes = bytes
        }

        /// Calls a closure with names and values in the order and spelling sent.
        ///
        /// Only complete lines are included, because the last line of a truncated head is unreliable.
        package func forEachField(_ body: (_ name: String, _ value: String) -> Void) {
            bytes.withUnsafeBytes { head in
                head.withMemoryRebound(to: UInt8.self) { HeadScanner.forEachField(of: $0, body) }
            }
        }
    }
}

extension TransferMetrics.WireHead: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The size of the head.
    public var description: String { "\(bytes.count) bytes" }
    /// The size of the head.
    public var debugDescription: String { description }
    /// An empty mirror, so that `dump` doesn't show the bytes.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
