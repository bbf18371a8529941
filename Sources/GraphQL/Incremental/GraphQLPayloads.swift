package import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The payloads of a response whose body is still to be read, as JSON text: several if it is a stream, or one.
///
/// The sequence can be iterated once. A stream that breaks off before its end marker throws an error of kind
/// `.truncated`. Releasing the sequence and its iterator cancels the transfer.
package struct GraphQLPayloads: AsyncSequence, Sendable {
    package typealias Element = Data

    private let response: StreamingResponse
    private let maxPayloadBytes: Int
    private let lastEventID: String
    private let tooLargeError: NetworkError?

    /// Creates the payloads of a response.
    ///
    /// - Parameters:
    ///   - maxPayloadBytes: The maximum size of a payload in bytes, 64 MiB by default.
    ///   - lastEventID: The ID of the event after which the stream continues.
    ///   - tooLargeError: The error thrown for a larger payload, if the limit came from another setting. `nil`, the
    ///     default, uses an error that names `maxPayloadBytes`.
    package init(
        _ response: StreamingResponse,
        maxPayloadBytes: Int = 64 << 20,
        after lastEventID: String = "",
        tooLargeError: NetworkError? = nil
    ) {
        self.response = response
        self.tooLargeError = tooLargeError
        self.maxPayloadBytes = maxPayloadBytes
        self.lastEventID = lastEventID
    }

    package func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(response, maxPayloadBytes, lastEventID, tooLargeError)
    }

    /// An iterator over the payloads.
    package struct AsyncIterator: AsyncIteratorProtocol {
        private let contentType: String?
        private let maxPayloadBytes: Int
        private let firstEventID: String
        private let tooLargeError: NetworkError?
        private var reader: GraphQLPayloadReader?
        private var body: HTTPBody.AsyncIterator?

        /// The ID of the last event read; empty before the first ID.
        var lastEventID: String { reader?.lastEventID ?? firstEventID }
        /// The server's delay for reconnecting to its event stream, or `nil` if it sent none.
        var reconnectionTime: Duration? { reader?.reconnectionTime }

        fileprivate init(
            _ response: StreamingResponse,
            _ maxPayloadBytes: Int,
            _ lastEventID: String,
            _ tooLargeError: NetworkError?
        ) {
            contentType = response.response.headerFields[single: .contentType]
            self.maxPayloadBytes = maxPayloadBytes
            firstEventID = lastEventID
            self.tooLargeError = tooLargeError
            body = response.body.makeAsyncIterator()
        }

        /// Returns the next payload, or `nil` if there are no more.
        ///
        /// - Throws: `NetworkError` that ended the stream. Later calls return `nil`.
        package mutating func next() async throws(NetworkError) -> Data? {
            do throws(NetworkError) {
                while true {
                    if let payload = try nextBuffered() { return payload }
                    guard reader?.isFinished == false, body != nil else {
                        body = nil
                        return nil
                    }
                    if let chunk = try await chunk() {
                        reader?.feed(chunk)
                    } else {
                        body = nil
                        return try reader?.finish()
                    }
                }
            } catch {
                body = nil
                throw error
            }
        }

        /// Returns the next payload if it has already been received.
        package mutating func nextBuffered() throws(NetworkError) -> Data? {
            if reader == nil {
                reader = try GraphQLPayloadReader(
                    contentType: contentType,
                    maxPayloadBytes: maxPayloadBytes,
                    after: firstEventID,
                    tooLargeError: tooLargeError
                )
            }
            return body == nil ? nil : try reader?.next()
        }

        /// Reads the rest of the body, so that its connection can be reused, but for no longer than a time limit.
        mutating func drain(timeout: Duration, by clock: any Clock<Duration>) async {
            guard let read = body?.reader else { return }
            body = nil
            await withTaskGroup(of: Void.self) { group in
                group.addTask { do { while try await read() != nil {} } catch {} }
                group.addTask { do { try await clock.sleep(for: timeout) } catch {} }
                await group.next()
                group.cancelAll()
            }
        }

        private mutating func chunk() async throws(NetworkError) -> Data? {
            do {
                return try await body?.next()
            } catch {
                throw NetworkError(wrapping: error)
            }
        }
    }
}
