public import BeagleNetDependencies
public import BeagleNetRequestBuilder

extension BeagleDependencies {
    /// The encoder of `Encodable` bodies for calls that don't pass one, which is that of `httpRequestBuilder`.
    public var bodyEncoder: any BodyEncoder {
        get { httpRequestBuilder.bodyEncoder }
        set { httpRequestBuilder.bodyEncoder = newValue }
    }
}
