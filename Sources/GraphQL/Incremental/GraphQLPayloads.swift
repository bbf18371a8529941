package import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The payloads of an answer whose body is still to be read, as JSON text: one after another where it is a stream, or one.
///
/// Iterated once. A stream that ends before it said so ends in an error of kind `.truncated`. Whoever stops reading and
/// lets it go ends the transfer.
package struct GraphQLPayloads: AsyncSequence, Sendable {
    package typealias Element = Data

    private let response: StreamingResponse
    private let maxPayloadBytes: Int
    private let lastEventID: String
    private let excess: NetworkError?

    /// The payloads of this answer.
    ///
    /// - Parameters:
    ///   - maxPayloadBytes: the most bytes that one payload may have, 64 MiB by default.
    ///   - lastEventID: the id of the event behind which it goes on.
    ///   - excess: what is thrown where a payload has more bytes, in words of who set the limit; nil, the default, names
    ///     `maxPayloadBytes`.
    package init(
        _ response: StreamingResponse,
        maxPayloadBytes: Int = 64 << 20,
        behind lastEventID: String = "",
        excess: NetworkError? = nil
    ) {
        self.response = response
        self.excess = excess
        self.maxPayloadBytes = maxPayloadBytes
        self.lastEventID = lastEventID
    }

    package func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(response, maxPayloadBytes, lastEventID, excess)
    }

    /// Gives the payloads one after another.
    package struct AsyncIterator: AsyncIteratorProtocol {
        private let contentType: String?
        private let maxPayloadBytes: Int
        private let firstEventID: String
        private let excess: NetworkError?
        private var reader: GraphQLPayloadReader?
        private var body: HTTPBody.AsyncIterator?

        /// Of events the id of the last that was read; empty where there is none.
        var lastEventID: String { reader?.lastEventID ?? firstEventID }
        /// Of events how long the server wants clients to wait before they connect again; nil where it did not say.
        var reconnectionTime: Duration? { reader?.reconnectionTime }

        fileprivate init(
            _ response: StreamingResponse,
            _ maxPayloadBytes: Int,
            _ lastEventID: String,
            _ excess: NetworkError?
        ) {
            contentType = response.response.headerFields[single: .contentType]
            self.maxPayloadBytes = maxPayloadBytes
            firstEventID = lastEventID
            self.excess = excess
            body = response.body.makeAsyncIterator()
        }

        /// The next payload; nil when there are no more.
        ///
        /// - Throws: `NetworkError`: why there are no more. After it comes nil.
        package mutating func next() async throws(NetworkError) -> Data? {
            do throws(NetworkError) {
                while true {
                    if let payload = try nextAtHand() { return payload }
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

        /// The next payload, where it has come already.
        package mutating func nextAtHand() throws(NetworkError) -> Data? {
            if reader == nil {
                reader = try GraphQLPayloadReader(
                    contentType: contentType,
                    maxPayloadBytes: maxPayloadBytes,
                    behind: firstEventID,
                    excess: excess
                )
            }
            return body == nil ? nil : try reader?.next()
        }

        /// Reads on to the end of the body, so that its connection can be used again, but no longer than this by a clock.
        mutating func drain(for patience: Duration, by clock: any Clock<Duration>) async {
            guard let read = body?.reader else { return }
            body = nil
            await withTaskGroup(of: Void.self) { group in
                group.addTask { do { while try await read() != nil {} } catch {} }
                group.addTask { do { try await clock.sleep(for: patience) } catch {} }
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
