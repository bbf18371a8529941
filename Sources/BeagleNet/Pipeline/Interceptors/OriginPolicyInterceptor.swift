public import BeagleNetHTTP

/// Holds credentials and the app's own fields to the app's own origins, whoever put them on.
///
/// It stands below everything that adds fields: those that interceptors gave the message and have in
/// `TransferRequest.originScopedFields`, and `scopedFields`, go to no origin that the app does not declare, and no further
/// with a redirect. An
/// `AuthInterceptor` or `HeadersInterceptor` that names origins of its own gives its fields to those. An app that declares
/// no origins lets fields go where a request says; hosts that must not be asked at all are the builder's (`allowedHosts`).
public struct OriginPolicyInterceptor: RequestObserver {
    /// `.originPolicy`.
    public var place: Pipeline.Place? { .originPolicy }
    /// The app's own origins; nil for those that the client's builder declares.
    public var origins: Set<Origin>?
    /// The fields that only the app's own origins may have.
    public var scopedFields: Set<HTTPField.Name>

    /// A policy.
    ///
    /// - Parameters:
    ///   - origins: the app's own origins; nil, the default, for those of the builder's `origins` and `baseURL`.
    ///   - scopedFields: the fields that only those may have; none by default.
    public init(origins: Set<Origin>? = nil, scopedFields: Set<HTTPField.Name> = []) {
        self.origins = origins
        self.scopedFields = scopedFields
    }

    /// Where there are fields to hold back.
    public func applies(to operation: NetworkOperation) -> Bool {
        !scopedFields.isEmpty || !operation.addedScopedFields.isEmpty
    }

    /// Takes away what the origin must not have.
    public func willSend(_ operation: inout NetworkOperation) -> (any RequestObservation)? {
        let added = operation.addedScopedFields
        operation.transfer.originScopedFields.formUnion(scopedFields)
        // No origins are all.
        if !operation.isMeant(for: origins), origins?.isEmpty != true {
            let withheld = operation.transfer.head.headerFields.filter {
                scopedFields.contains($0.name) || added.contains($0)
            }
            if !withheld.isEmpty {
                operation.transfer.head.headerFields.removeAll { withheld.contains($0) }
                operation.log(NetworkMessage.withheld(withheld, from: operation), at: .warning)
            }
        }
        return nil
    }
}

extension NetworkMessage {
    fileprivate static func withheld(_ fields: HTTPFields, from operation: NetworkOperation) -> NetworkMessage {
        let names = Set(fields.map(\.name.rawName)).sorted().joined(separator: ", ")
        return NetworkMessage(
            "\(operation.line): sent without \(names), because \(operation.origin) is not one of the app's origins",
            .warning
        )
    }
}
