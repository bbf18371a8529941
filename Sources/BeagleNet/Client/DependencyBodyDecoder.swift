public import BeagleNetDependencies
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
}

enum BodyDecoderKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> any BodyDecoder { JSONBodyDecoder() }
}
