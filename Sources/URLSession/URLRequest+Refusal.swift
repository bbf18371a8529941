import BeagleNet
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request that stands for an error. It can't be sent, and its creator can read the error from it.
extension URLRequest {
    private static let refused = "beaglenet-refused"

    /// Creates a request that contains this error and has a URL that no `URLSession` loads. The error contains no
    /// secrets.
    init(buildError error: NetworkError, of url: URL) {
        var components = URLComponents()
        components.scheme = Self.refused
        components.path = error.kind.rawValue
        components.queryItems = [
            URLQueryItem(name: "message", value: error.message), URLQueryItem(name: "advice", value: error.advice),
        ]
        self.init(url: url)
        // If `components.url` were `nil`, the request couldn't be sent either.
        self.url = components.url
    }

    /// The error that this request stands for; `nil` for an ordinary request.
    var buildError: NetworkError? {
        guard let url, url.scheme == Self.refused,
            let components = URLComponents(url: url, resolvingAgainstBaseURL: false)
        else { return nil }
        func value(_ name: String) -> String? { components.queryItems?.first { $0.name == name }?.value }
        return NetworkError(
            NetworkError.Kind(rawValue: components.path),
            during: .build,
            value("message") ?? "the request could not be built",
            advice: value("advice")
        )
    }
}
