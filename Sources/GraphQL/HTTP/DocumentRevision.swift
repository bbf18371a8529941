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
    let made: Request

    init(_ message: DocumentMessage, at endpoint: GraphQLEndpoint, to url: URL, made: Request) {
        self.message = message
        self.endpoint = endpoint
        self.url = url
        self.made = made
    }

    /// - Throws: `NetworkError` if the message can't be sent.
    init(_ message: DocumentMessage, at endpoint: GraphQLEndpoint, to url: URL) throws(NetworkError) {
        let made = try endpoint.makeRequest(message.request, message.style, message.method, to: url)
        self.init(message, at: endpoint, to: url, made: made)
    }

    func revised(
        _ operation: NetworkOperation,
        after outcome: Result<NetworkOperation.Result, NetworkError>?
    ) throws(NetworkError) -> NetworkOperation? {
        guard let refusal = refusal(of: operation, outcome) else { return nil }
        if refusal == .unsupported { endpoint.memory.knowsNoPersistedQueries = true }
        guard let next = try message.next(after: refusal) else { return nil }
        return try asking(next, operation)
    }

    func settled(_ operation: NetworkOperation) throws(NetworkError) -> NetworkOperation {
        guard message.isHash else { return operation }
        var operation = try asking(DocumentMessage(message.request, .text, method: message.method), operation)
        operation.revision = nil
        return operation
    }

    private func asking(_ next: DocumentMessage, _ operation: NetworkOperation) throws(NetworkError) -> NetworkOperation
    {
        var operation = operation
        if operation.performer != nil {
            var endpoint = endpoint
            endpoint.subscriptionMethod = .post
            operation.performer = try SubscriptionPerformer(next.request, at: endpoint)
        }
        let revision = try DocumentRevision(next, at: endpoint, to: url)
        operation = try operation.asking(revision.made, insteadOf: made)
        operation.revision = revision
        return operation
    }

    private func refusal(
        of operation: NetworkOperation,
        _ outcome: Result<NetworkOperation.Result, NetworkError>?
    ) -> DocumentMessage.Refusal? {
        guard let outcome else { return message.isHash && endpoint.memory.knowsNoPersistedQueries ? .unsupported : nil }
        if case .failure(let error) = outcome, error.kind == .status, error.response?.status.code == 414 {
            return operation.request.isGet ? .tooLong : nil
        }
        return message.isHash ? outcome.refusalOfHash : nil
    }
}

extension Result<NetworkOperation.Result, NetworkError> {
    /// The reason for which the server refused a hash. `nil` if it accepted the hash, or if the response is unreadable,
    /// which is reported to the caller.
    fileprivate var refusalOfHash: DocumentMessage.Refusal? {
        do throws(NetworkError) {
            switch self {
            case .success(let result):
                guard let response = result.response else { return nil }
                return DocumentMessage.Refusal(try GraphQLAnswer(response, refusal: nil))
            case .failure(let error):
                guard error.kind == .status, let response = NetworkResponse(of: error) else {
                    return DocumentMessage.Refusal(error.graphQLErrors)
                }
                return DocumentMessage.Refusal(try GraphQLAnswer(response, refusal: error))
            }
        } catch {
            return DocumentMessage.Refusal(error.graphQLErrors)
        }
    }
}
