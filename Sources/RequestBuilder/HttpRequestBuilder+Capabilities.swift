import BeagleNetHTTP

extension HttpRequestBuilder {
    /// Adds the hash of the app's capabilities to a request for a screen, if its origin is declared.
    ///
    /// The field is part of the message that a client compares, so that two versions of an app never share a screen.
    func addCapabilities(to message: inout TransferRequest) {
        guard let capabilities, declares(Origin(of: message.head)) else { return }
        message.head.headerFields[.beagleCapabilities] = capabilities
        message.originScopedFields.insert(.beagleCapabilities)
    }
}
