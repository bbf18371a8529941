import BeagleNet
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request that stands for an error: it cannot be sent, and says why to who made it.
extension URLRequest {
    private static let refused = "beaglenet-refused"

    /// A request whose URL no `URLSession` loads, and that holds this error. The error holds no secret.
    init(refusal error: NetworkError, of url: URL) {
        var components = URLComponents()
        components.scheme = Self.refused
        components.path = error.kind.rawValue
        components.queryItems = [
            URLQueryItem(name: "message", value: error.message), URLQueryItem(name: "advice", value: error.advice),
        ]
        self.init(url: url)
        // Where there were no URL, nothing would be sent either.
        self.url = components.url
    }

    /// The error that this request stands for, if it does.
    var refusal: NetworkError? {
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
