public import BeagleNetDependencies
public import BeagleNetRequestBuilder

extension BeagleDependencies {
    /// Writes `Encodable` values in bodies where a call brings no encoder: the one of `httpRequestBuilder`.
    public var bodyEncoder: any BodyEncoder {
        get { httpRequestBuilder.bodyEncoder }
        set { httpRequestBuilder.bodyEncoder = newValue }
    }
}
