import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Sends an operation whose result may be incremental.
struct IncrementalSource: Sendable {
    /// The current state of the result.
    struct Update {
        enum Content {
            /// A response that was not incremental: the parsed response, and its data if it has any.
            case whole(ParsedGraphQLResponse, JSONValue?)
            /// A result merged from parts.
            case merged(IncrementalMerge, NetworkResponse)
        }

        let content: Content
        var patches: [GraphQLPatch] = []
        var hasNext = false
        /// Whether the server has stated that no more parts follow. If it doesn't state that, the end of the stream
        /// decides.
        var isLast = true
    }

    let client: any NetworkClient
    let request: GraphQLRequest
    let endpoint: GraphQLEndpoint
    let maxPayloadBytes: Int
    /// Configures each message before it is sent.
    let configure: @Sendable (_ operation: inout NetworkOperation) -> Void

    /// Sends the operation, and sends it again with its text if the server refuses its hash.
    func send() async throws(NetworkError) -> ResponseReader {
        try request.checkKind()
        let message = DocumentMessage(request, endpoint.documentStyle, method: .post)
        guard message.isHash else { return try await send(message) }
        if endpoint.state.lacksPersistedQueries { return try await send(message, after: .unsupported) }
        let found: DocumentMessage.Refusal
        do throws(NetworkError) {
            let reader = try await send(message)
            guard let refusal = try await reader.hashRefusal() else { return reader }
            found = refusal
        } catch {
            guard let refusal = DocumentMessage.Refusal(error.graphQLErrors) else { throw error }
            found = refusal
        }
        if found == .unsupported { endpoint.state.lacksPersistedQueries = true }
        return try await send(message, after: found)
    }

    /// Sends the message that follows the refusal of a hash.
    private func send(
        _ message: DocumentMessage,
        after refusal: DocumentMessage.Refusal
    ) async throws(NetworkError) -> ResponseReader {
        try await send(message.next(after: refusal) ?? message)
    }

    /// Sends a message with POST, because intermediaries don't cache a stream.
    private func send(_ message: DocumentMessage) async throws(NetworkError) -> ResponseReader {
        let request = try endpoint.makeRequest(
            message.request,
            style: message.style,
            method: .post,
            accept: GraphQLEndpoint.incrementalAccept,
            in: client.container
        )
        var operation = NetworkOperation.stream(request, kind: NetworkOperation.Kind(message.request.kind))
        operation.operationName = message.request.operationName
        configure(&operation)
        operation.incrementalTypes = IncrementalTypeReporter()
        let result = try await client.run(operation)
        switch result.content {
        case .stream(let stream): return ResponseReader(stream, to: operation, maxPayloadBytes, client.container.clock)
        case .response(let response):
            return ResponseReader(StreamingResponse(response), to: operation, maxPayloadBytes, client.container.clock)
        case .progress, .connection:
            throw NetworkError(.protocol, during: .response, "the GraphQL operation ended without a response")
        }
    }
}

extension IncrementalSource {
    /// A response that is being read by one reader.
    final class ResponseReader {
        private let stream: StreamingResponse
        private let isStream: Bool
        private var payloads: GraphQLPayloads.AsyncIterator
        private let maxPayloadBytes: Int
        private let clock: any Clock<Duration>
        private var merge: IncrementalMerge
        /// The only payload so far; `nil` if there were several.
        private var wholeText: Data?
        /// A result that was read before the caller requested it.
        private var first: Update?
        /// The error to throw after the last result.
        private var failure: NetworkError?
        private var isRead = false
        private let types: IncrementalTypeReporter?
        /// The types seen so far.
        private var seenTypes: Set<String>
        /// The types already reported.
        private var reportedTypes: Set<String> = []

        fileprivate init(
            _ stream: StreamingResponse,
            to operation: NetworkOperation,
            _ maxPayloadBytes: Int,
            _ clock: any Clock<Duration>
        ) {
            self.stream = stream
            types = operation.incrementalTypes
            // When the head of a response arrives, a mutation has hardly begun. It has been executed when the first
            // part arrives.
            seenTypes = operation.changedTypes
            self.clock = clock
            self.maxPayloadBytes = maxPayloadBytes
            merge = IncrementalMerge(maxPayloadBytes: maxPayloadBytes)
            isStream =
                GraphQLPayloadReader.isStream(stream.response.headerFields[single: .contentType])
                && stream.response.status.kind == .successful
            payloads = GraphQLPayloads(stream, maxPayloadBytes: maxPayloadBytes).makeAsyncIterator()
        }

        private var head: NetworkResponse { NetworkResponse(response: stream.response, url: stream.url) }

        /// Returns the reason for which the server refused a hash, or `nil` if it accepted it.
        func hashRefusal() async throws(NetworkError) -> DocumentMessage.Refusal? {
            first = try await next(coalesces: false)
            switch first?.content {
            case .whole(let parsed, _): return DocumentMessage.Refusal(parsed)
            case .merged(let merge, _): return merge.hasData ? nil : DocumentMessage.Refusal(merge.errors)
            case nil: return nil
            }
        }

        /// Returns the result after the next part has arrived, or `nil` if there are no more parts.
        func next(coalesces: Bool) async throws(NetworkError) -> Update? {
            if let first {
                self.first = nil
                return first
            }
            let update = await Result<Update?, NetworkError>.catching { () throws(NetworkError) in
                isStream ? try await nextOfStream(coalesces) : try await whole()
            }
            // Executed changes count even if the rest of the response can't be read.
            let newTypes = seenTypes.subtracting(reportedTypes)
            reportedTypes = seenTypes
            await types?.report(newTypes)
            return try update.get()
        }

        private func note(_ payload: Data) {
            if types?.hasSubscribers == true { seenTypes.formUnion(payload.typenames) }
        }

        private func nextOfStream(_ coalesces: Bool) async throws(NetworkError) -> Update? {
            if let failure { throw failure }
            guard let payload = try await nextPayload() else { return nil }
            isRead = true
            var patches = try take(payload)
            if coalesces { coalesce(&patches) }
            // The received data is delivered before the error for the missing parts, which readers need not detect
            // themselves.
            if merge.hasNext == false, merge.isUnfinished, failure == nil { failure = .endedEarly(head) }
            return Update(
                content: try content(),
                patches: patches,
                hasNext: merge.isUnfinished || failure != nil,
                isLast: merge.hasNext == false && failure == nil
            )
        }

        private func content() throws(NetworkError) -> Update.Content {
            var response = head
            guard let text = wholeText else { return .merged(merge, response) }
            response.data = text
            return .whole(try ParsedGraphQLResponse(reading: response), merge.hasData ? merge.data : nil)
        }

        /// - Throws: `NetworkError` with the payload, if it is invalid or has no place in the response.
        private func take(_ payload: Data) throws(NetworkError) -> [GraphQLPatch] {
            note(payload)
            do throws(NetworkError) {
                let patches = try merge.apply(text: payload)
                wholeText = merge.isSinglePayload ? payload : nil
                return patches
            } catch {
                throw error.attaching(NetworkResponse(data: payload, response: stream.response, url: stream.url))
            }
        }

        /// Merges the payloads that have already arrived. An error in one of them is thrown after the valid ones are
        /// delivered.
        private func coalesce(_ patches: inout [GraphQLPatch]) {
            do throws(NetworkError) {
                while merge.hasNext == true, let payload = try payloads.nextBuffered() { patches += try take(payload) }
            } catch {
                failure = headed(error)
            }
        }

        /// - Throws: `NetworkError` of kind `.truncated` if the stream ends early, and `.decoding` if it has no payload
        ///   at all.
        private func nextPayload() async throws(NetworkError) -> Data? {
            do throws(NetworkError) {
                if let payload = try await payloads.next() { return payload }
            } catch {
                throw headed(error)
            }
            guard isRead else {
                throw .malformed("the response has no payload", head)
            }
            if merge.isUnfinished { throw .endedEarly(head) }
            return nil
        }

        /// Returns the error with the head of the response it concerns.
        private func headed(_ error: NetworkError) -> NetworkError {
            var error = error
            error.response = error.response ?? stream.response
            error.url = error.url ?? stream.url
            return error
        }

        /// Reads a response that is not a stream, from a server without incremental delivery.
        private func whole() async throws(NetworkError) -> Update? {
            if isRead { return nil }
            isRead = true
            let response = try await stream.collect(upTo: maxPayloadBytes)
            note(response.data)
            let refusal = response.status.kind == .successful ? nil : response.statusError()
            let parsed = try ParsedGraphQLResponse(response, refusal: refusal)
            let data = try parsed.data.map { range throws(NetworkError) in try JSONValue(parsing: parsed[range]) }
            let patch = GraphQLPatch(
                content: .data(data ?? .null),
                errors: parsed.errors,
                extensions: parsed.extensions
            )
            return Update(content: .whole(parsed, data), patches: [patch])
        }

        /// Reads the rest of the body after the last payload, which is usually only an end marker.
        func drain() async {
            await payloads.drain(timeout: .seconds(3), by: clock)
        }
    }
}

extension GraphQLEndpoint {
    /// The accepted media types of an incremental response. Ariadne accepts events without a `q` only for
    /// subscriptions.
    package static let incrementalAccept =
        "multipart/mixed;incrementalSpec=v0.2, multipart/mixed;deferSpec=20220824, text/event-stream;q=0.9, "
        + "application/graphql-response+json, application/json;q=0.9"
}
