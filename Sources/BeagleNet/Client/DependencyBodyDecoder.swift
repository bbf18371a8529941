public import BeagleNetDependencies
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension BeagleDependencies {
    /// Makes values of bodies where a call brings no decoder; a `JSONBodyDecoder` by default.
    public var bodyDecoder: any BodyDecoder {
        get { self[BodyDecoderKey.self] }
        set { self[BodyDecoderKey.self] = newValue }
    }
}

enum BodyDecoderKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> any BodyDecoder { JSONBodyDecoder() }
}
