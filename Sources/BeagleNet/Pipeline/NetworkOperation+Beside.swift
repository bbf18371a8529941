package import BeagleNetHTTP

extension NetworkOperation {
    /// Another operation beside this one, with what its client lends: of a message that no request was built to.
    package func beside(_ transfer: TransferRequest, kind: Kind) -> NetworkOperation {
        NetworkOperation(request, kind: kind).sending(transfer, surroundings, for: 0)
    }
}
