import BeagleNet
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The secrets that are sent in mapped header fields. They are removed from reports even if the server repeats them.
struct MappedSecrets: Sendable {
    /// The secrets, longest first, because one may contain another.
    private let secrets: [String]

    init(_ headers: [Reissuer.HeaderMapping]) {
        secrets = Set(headers.flatMap(\.secrets)).sorted { $0.utf8.count > $1.utf8.count }
    }

    func redacted(_ text: String) -> String {
        secrets.reduce(text) { $0.replacing($1, with: Redactor.placeholder) }
    }

    func redacted(_ data: Data) -> Data {
        let placeholder = Data(Redactor.placeholder.utf8)
        return secrets.reduce(data) { $0.replacing(Data($1.utf8), with: placeholder) }
    }

    func redacted(_ head: HTTPResponse) -> HTTPResponse {
        guard !secrets.isEmpty else { return head }
        var head = head
        head.headerFields = HTTPFields(
            head.headerFields.map { HTTPField(name: $0.name, value: redacted($0.value)) }
        )
        return head
    }

    /// Returns the error without secrets and without the request.
    func redacted(_ error: NetworkError) -> NetworkError {
        guard !secrets.isEmpty else { return error }
        var error = error
        error.url = (error.url ?? error.request?.urlText).map(redacted)
        (error.message, error.advice) = (redacted(error.message), error.advice.map(redacted))
        (error.request, error.response) = (nil, error.response.map(redacted))
        return error
    }
}
