import BeagleNet
import BeagleNetHTTP
import BeagleNetRequestBuilder
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Revises an operation if the server refuses the hash of its document or the length of its URL.
struct DocumentRevision: OperationRevision {
    let message: DocumentMessage
    let endpoint: GraphQLEndpoint
    /// The URL of the endpoint's target when the operation was created.
    let url: URL
    /// The request created from the message.
    let request: Request

    init(_ message: DocumentMessage, at endpoint: GraphQLEndpoint, to url: URL, request: Request) {
        self.message = message
        self.endpoint = endpoint
        self.url = url
        self.request = request
    }

    /// - Throws: `NetworkError` if the message can't be sent.
    init(_ message: DocumentMessage, at endpoint: GraphQLEndpoint, to url: URL) throws(NetworkError) {
        let request = try endpoint.makeRequest(message.request, message.style, message.method, to: url)
        self.init(message, at: endpoint, to: url, request: request)
    }

    func revised(
        _ operation: NetworkOperation,
        after outcome: Result<NetworkOperation.Result, NetworkError>?
    ) throws(NetworkError) -> NetworkOperation? {
        guard let refusal = refusal(of: operation, outcome) else { return nil }
        if refusal == .unsupported { endpoint.state.lacksPersistedQueries = true }
        guard let next = try message.next(after: refusal) else { return nil }
        return try sending(next, operation)
    }

    func standaloneOperation(_ operation: NetworkOperation) throws(NetworkError) -> NetworkOperation {
        guard message.isHash else { return operation }
        var operation = try sending(DocumentMessage(message.request, .text, method: message.method), operation)
        operation.revision = nil
        return operation
    }

    private func sending(_ next: DocumentMessage, _ operation: NetworkOperation) throws(NetworkError)
        -> NetworkOperation
    {
        var operation = operation
        if operation.performer != nil {
            var endpoint = endpoint
            endpoint.subscriptionMethod = .post
            operation.performer = try SubscriptionPerformer(next.request, at: endpoint)
        }
        let revision = try DocumentRevision(next, at: endpoint, to: url)
        operation = try operation.asking(revision.request, insteadOf: request)
        operation.revision = revision
        return operation
    }

    private func refusal(
        of operation: NetworkOperation,
        _ outcome: Result<NetworkOperation.Result, NetworkError>?
    ) -> DocumentMessage.Refusal? {
        guard let outcome else { return message.isHash && endpoint.state.lacksPersistedQueries ? .unsupported : nil }
        if case .failure(let error) = outcome, error.kind == .status, error.response?.status.code == 414 {
            return operation.request.isGet ? .tooLong : nil
        }
        return message.isHash ? outcome.hashRefusal : nil
    }
}

extension Result<NetworkOperation.Result, NetworkError> {
    /// The reason for which the server refused a hash. `nil` if it accepted the hash, or if the response is unreadable,
    /// which is reported to the caller.
    fileprivate var hashRefusal: DocumentMessage.Refusal? {
        do throws(NetworkError) {
            switch self {
            case .success(let result):
                guard let response = result.response else { return nil }
                return DocumentMessage.Refusal(try ParsedGraphQLResponse(response, refusal: nil))
            case .failure(let error):
                guard error.kind == .status, let response = NetworkResponse(of: error) else {
                    return DocumentMessage.Refusal(error.graphQLErrors)
                }
                return DocumentMessage.Refusal(try ParsedGraphQLResponse(response, refusal: error))
            }
        } catch {
            return DocumentMessage.Refusal(error.graphQLErrors)
        }
    }
}
