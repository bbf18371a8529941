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

    init(_ headers: [HeaderMapping]) {
        secrets = Set(headers.flatMap(\.secrets)).sorted { $0.utf8.count > $1.utf8.count }
    }

    func hidden(in text: String) -> String {
        secrets.reduce(text) { $0.replacing($1, with: Redactor.placeholder) }
    }

    func hidden(in data: Data) -> Data {
        let placeholder = Data(Redactor.placeholder.utf8)
        return secrets.reduce(data) { $0.replacing(Data($1.utf8), with: placeholder) }
    }

    func hidden(in head: HTTPResponse) -> HTTPResponse {
        guard !secrets.isEmpty else { return head }
        var head = head
        head.headerFields = HTTPFields(
            head.headerFields.map { HTTPField(name: $0.name, value: hidden(in: $0.value)) }
        )
        return head
    }

    /// Returns the error without secrets and without the request.
    func hidden(in error: NetworkError) -> NetworkError {
        guard !secrets.isEmpty else { return error }
        var error = error
        error.url = (error.url ?? error.request?.urlText).map(hidden)
        (error.message, error.advice) = (hidden(in: error.message), error.advice.map(hidden))
        (error.request, error.response) = (nil, error.response.map(hidden))
        return error
    }
}
