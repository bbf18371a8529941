import BeagleNet
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Responds to everything with the same response, which may be stored for a day.
final class OneResponse: HTTPTransport {
    private let body: Data
    private let requests = Atomic(0)

    init(_ body: Data) {
        self.body = body
    }

    var count: Int { requests.load(ordering: .relaxed) }

    func perform(
        _ request: TransferRequest,
        completion: @escaping @Sendable (Result<TransferResponse, NetworkError>) -> Void
    ) -> any RequestToken {
        requests.wrappingAdd(1, ordering: .relaxed)
        let fields: HTTPFields = [.cacheControl: "max-age=86400", .contentType: "application/json"]
        let head = HTTPResponse(status: .ok, headerFields: fields)
        completion(.success(TransferResponse(head: head, body: HTTPBody(body), url: "https://example.com/home")))
        return Token()
    }

    private struct Token: RequestToken {
        func cancel() {}
    }
}
