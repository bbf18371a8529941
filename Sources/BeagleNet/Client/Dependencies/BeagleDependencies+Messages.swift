public import BeagleNetDependencies
public import BeagleNetHTTP
public import BeagleNetRequestBuilder
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension BeagleDependencies {
    /// The decoder of bodies for calls that don't pass one, a `JSONBodyDecoder` by default.
    public var bodyDecoder: any BodyDecoder {
        get { self[BodyDecoderKey.self] }
        set { self[BodyDecoderKey.self] = newValue }
    }

    /// The encoder of `Encodable` bodies for calls that don't pass one, which is that of `httpRequestBuilder`.
    public var bodyEncoder: any BodyEncoder {
        get { httpRequestBuilder.bodyEncoder }
        set { httpRequestBuilder.bodyEncoder = newValue }
    }

    /// The request builder of each `NetworkClientDefault` that has no builder of its own.
    public var httpRequestBuilder: HttpRequestBuilder {
        get { self[HttpRequestBuilderKey.self] }
        set { self[HttpRequestBuilderKey.self] = newValue }
    }

    /// The redactor that removes secrets from logs.
    ///
    /// Add headers and values that are secret in your API: `dependencies.redactor.secrets = ["x-session"]`.
    public var redactor: Redactor {
        get { self[RedactorKey.self] }
        set { self[RedactorKey.self] = newValue }
    }
}

// The keys are one table, so they share this file.

enum BodyDecoderKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> any BodyDecoder { JSONBodyDecoder() }
}

enum HttpRequestBuilderKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> HttpRequestBuilder { HttpRequestBuilder() }
}

enum RedactorKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> Redactor { Redactor() }
}
