public import BeagleNetDependencies
import BeagleNetRequestBuilder
#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A backend that the app can talk to, as `staging` or `production`.
///
/// ```swift
/// dependencies.environment = BeagleEnvironment(name: "staging", baseURL: URL(string: "https://staging.example.com"))
/// ```
public struct BeagleEnvironment: Sendable, Hashable {
    /// What people call it.
    public var name: String
    /// What paths are put onto; the builder's `baseURL` where nil.
    public var baseURL: URL?
    /// Headers for every request to the base URL's origin, and to the builder's `origins`. Without either they go with every
    /// request, and a credential among them, as `Authorization`, is a build error. A header of the same name in
    /// `HttpRequestBuilder.additionalHeaders` wins.
    public var headers: [String: String]

    /// Describes a backend.
    public init(name: String, baseURL: URL?, headers: [String: String] = [:]) {
        self.name = name
        self.baseURL = baseURL
        self.headers = headers
    }

    /// The builder for requests to this backend.
    func applied(to builder: HttpRequestBuilder) -> HttpRequestBuilder {
        var builder = builder
        builder.baseURL = baseURL ?? builder.baseURL
        builder.environmentHeaders = headers
        return builder
    }
}

extension BeagleDependencies {
    /// The backend; one without a base URL by default. What is set later is followed by `urlBuilder` and by the
    /// default client.
    public var environment: BeagleEnvironment {
        get { self[EnvironmentKey.self] }
        set { self[EnvironmentKey.self] = newValue }
    }
}

enum EnvironmentKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> BeagleEnvironment {
        BeagleEnvironment(name: "default", baseURL: nil)
    }
}

extension BeagleEnvironment: CustomStringConvertible, CustomReflectable {
    /// Name, base URL and headers, with their secrets replaced.
    public var description: String {
        let redactor = Redactor.standard
        let title = baseURL.map { "\(name): \(redactor.redact(url: $0))" } ?? name
        return redactor.shownMessage(title, redactor.shown(headers), nil)
    }
    /// Without children, of which `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
