public import BeagleNetDependencies
import BeagleNetRequestBuilder
#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A backend of the app, such as `staging` or `production`.
///
/// ```swift
/// dependencies.environment = BeagleEnvironment(name: "staging", baseURL: URL(string: "https://staging.example.com"))
/// ```
public struct BeagleEnvironment: Sendable, Hashable {
    /// The name, for people to read.
    public var name: String
    /// The base URL of paths, or `nil` to use the builder's `baseURL`.
    public var baseURL: URL?
    /// The headers of every request to the base URL's origin and to the builder's `origins`.
    ///
    /// Without a base URL and `origins`, every request has these headers; a credential among them, such as
    /// `Authorization`, is then a build error. A header of the same name in `HttpRequestBuilder.additionalHeaders`
    /// takes precedence.
    public var headers: [String: String]

    /// Creates an environment.
    public init(name: String, baseURL: URL?, headers: [String: String] = [:]) {
        self.name = name
        self.baseURL = baseURL
        self.headers = headers
    }

    /// Returns the builder for requests to this backend.
    func applied(
        to builder: HttpRequestBuilder,
        _ redactor: Redactor,
        _ capabilities: ScreenCapabilities? = nil
    ) -> HttpRequestBuilder {
        var builder = builder
        builder.baseURL = baseURL ?? builder.baseURL
        builder.environmentHeaders = headers
        builder.redactor = redactor
        builder.capabilities = capabilities?.hash
        return builder
    }
}

extension BeagleDependencies {
    /// The backend of the app, without a base URL by default.
    ///
    /// `urlBuilder` and the default client follow later changes.
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
    /// The name, base URL and headers, with secrets redacted.
    public var description: String {
        let redactor = Redactor.standard
        let title = baseURL.map { "\(name): \(redactor.redact(url: $0))" } ?? name
        return redactor.messageDescription(title, redactor.redactedDescription(of: headers), nil)
    }
    /// An empty mirror, so that `dump` doesn't show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
