import BeagleNetHTTP

/// Repeats a request for a screen with the list of capabilities, once, if the server doesn't know their hash.
struct CapabilityRevision: OperationRevision {
    let capabilities: ScreenCapabilities

    func revised(
        _ operation: NetworkOperation,
        after outcome: Result<NetworkOperation.Result, NetworkError>?
    ) -> NetworkOperation? {
        // A redirect may lead to another origin, which must not receive the list.
        guard let outcome, outcome.asksForCapabilityList(of: operation.origin) else { return nil }
        let record = capabilities.record
        guard operation.transfer.head.headerFields[.beagleCapabilityList] == nil else {
            record.addRefusal(by: operation.origin)
            return nil
        }
        let bytes = capabilities.list.utf8.count
        guard bytes <= ScreenCapabilities.maxListBytes else {
            record.reportSize(bytes, to: operation.logger)
            return nil
        }
        guard !record.isRefused(by: operation.origin) else { return nil }
        var operation = operation
        operation.transfer.head.headerFields[.beagleCapabilityList] = capabilities.list
        operation.transfer.originScopedFields.insert(.beagleCapabilityList)
        return operation
    }

    /// Returns the operation with only the hash: an outbox doesn't repeat it with the list.
    func standaloneOperation(_ operation: NetworkOperation) -> NetworkOperation {
        var operation = operation
        operation.revision = nil
        return operation
    }
}

extension NetworkOperation {
    /// Whether the client has added the hash of these capabilities, and nothing else may replace the message.
    func sends(_ capabilities: ScreenCapabilities) -> Bool {
        isOneMessage && transfer.head.headerFields[.beagleCapabilities] == capabilities.hash
    }
}

extension Result<NetworkOperation.Result, NetworkError> {
    fileprivate func asksForCapabilityList(of origin: Origin) -> Bool {
        let response: NetworkResponse? =
            switch self {
            case .success(let result): result.response
            case .failure(let error): NetworkResponse(of: error)
            }
        guard let response, response.status.code == 428 else { return false }
        return response.response.headerFields[.beagleCapabilityList] == "?1" && Origin(ofURL: response.url) == origin
    }
}
