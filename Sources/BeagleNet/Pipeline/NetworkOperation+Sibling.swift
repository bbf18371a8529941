package import BeagleNetHTTP

extension NetworkOperation {
    /// Returns an operation for a message that wasn't built from a request, with the dependencies of this operation's
    /// client.
    package func sibling(_ transfer: TransferRequest, kind: Kind) -> NetworkOperation {
        NetworkOperation(request, kind: kind).sending(transfer, operationEnvironment, for: 0)
    }
}
