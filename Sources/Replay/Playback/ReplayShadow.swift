import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A comparison of a network response with the recorded one, made when the response is complete.
struct ReplayShadow: Sendable {
    let title: String
    /// The recorded entry, or the error if no entry matches.
    let recorded: Result<LogEntry, NetworkError>
    let recording: Recording
    let rules: ComparisonRules
    let report: @Sendable (ReplayTransport.Comparison) -> Void

    /// The maximum size of compared bodies, in bytes.
    private static let limit = 16 << 20

    /// Returns the response, which is compared at the end of its body.
    func comparing(_ response: TransferResponse, _ delivery: TransferRequest.Delivery) -> TransferResponse {
        var response = response
        switch (delivery, response.body.content) {
        case (.stream, .stream(let length, _, let open)):
            let head = response.head
            response.body = HTTPBody(
                .stream(length: length, isReplayable: false) { collecting(open(), { compare(head, $0) }) }
            )
        case (.file(let path), _) where response.status.kind == .successful:
            compare(response.head, Self.contents(of: path))
        default: compare(response.head, response.body.data)
        }
        return response
    }

    /// Reports a failed request.
    func failed(_ error: NetworkError) {
        if error.isCancelled { return }
        if case .failure(let recorded) = recorded, recorded.kind == error.kind { return }
        report(ComparisonRules.Differences(limit: 0), error)
    }

    private func collecting(_ read: @escaping HTTPBody.Reader, _ end: @escaping @Sendable (Data?) -> Void)
        -> HTTPBody.Reader
    {
        let whole = Lock<Data?>(Data())
        return {
            do {
                let chunk = try await read()
                guard let chunk else {
                    end(whole.withLock { $0 })
                    return nil
                }
                whole.withLock { whole in
                    whole?.append(chunk)
                    if let count = whole?.count, count > Self.limit { whole = nil }
                }
                return chunk
            } catch {
                failed(NetworkError(wrapping: error))
                throw error
            }
        }
    }

    private static func contents(of path: String) -> Data? {
        let reader = FileReader(path: path)
        var data = Data()
        do throws(NetworkError) {
            while let piece = try reader.next() {
                data.append(piece)
                if data.count > limit { return nil }
            }
            return data
        } catch {
            return nil
        }
    }

    /// Compares a complete response.
    ///
    /// - Parameter body: the body; `nil` if it is too large.
    private func compare(_ head: HTTPResponse, _ body: Data?) {
        guard case .success(let entry) = recorded, var response = entry.response else {
            return report(ComparisonRules.Differences(limit: 0), nil)
        }
        if body == nil { response.body = LogEntry.Body(.omitted("too large"), mediaType: response.body.mediaType) }
        let differences = rules.differences(from: response, in: recording, to: head, body ?? Data())
        if !differences.isEmpty { report(differences, nil) }
    }

    private func report(_ differences: ComparisonRules.Differences, _ error: NetworkError?) {
        var recordedFailure: NetworkError?
        if case .failure(let error) = recorded { recordedFailure = error }
        report(
            ReplayTransport.Comparison(
                request: title,
                differences: differences,
                recordedFailure: recordedFailure,
                failure: error
            )
        )
    }
}
