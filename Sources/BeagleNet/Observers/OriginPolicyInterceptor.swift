public import BeagleNetHTTP

/// An interceptor that keeps credentials and the app's own fields from other origins, whichever interceptor added them.
///
/// Its place is below all interceptors that add fields. It removes two sets of fields if the app doesn't declare the
/// origin: those that interceptors added and marked in `TransferRequest.originScopedFields`, and `scopedFields`.
/// Redirects to another origin remove them, too. If an `AuthInterceptor` or `HeadersInterceptor` has its own origins,
/// these receive its fields.
///
/// If the app declares no origins, fields are sent wherever a request goes. To block hosts altogether, use the
/// builder's `allowedHosts`.
public struct OriginPolicyInterceptor: RequestObserver {
    /// The interceptor's place: `.originPolicy`.
    public var place: Pipeline.Place? { .originPolicy }
    /// The app's own origins; `nil` for those that the client's builder declares.
    public var origins: Set<Origin>?
    /// The fields that only the app's own origins may receive.
    public var scopedFields: Set<HTTPField.Name>

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - origins: The app's own origins; `nil`, the default, for those of the builder's `origins` and `baseURL`.
    ///   - scopedFields: The fields that only these origins may receive; empty by default.
    public init(origins: Set<Origin>? = nil, scopedFields: Set<HTTPField.Name> = []) {
        self.origins = origins
        self.scopedFields = scopedFields
    }

    /// Returns whether there are fields to protect.
    public func applies(to operation: NetworkOperation) -> Bool {
        !scopedFields.isEmpty || !operation.addedScopedFields.isEmpty
    }

    /// Removes the fields that the origin must not receive.
    public func willSend(_ operation: inout NetworkOperation) -> (any RequestObservation)? {
        let added = operation.addedScopedFields
        operation.transfer.originScopedFields.formUnion(scopedFields)
        // An empty set permits all origins.
        if !operation.isPermitted(for: origins), origins?.isEmpty != true {
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
            "\(operation.logName): sent without \(names), because \(operation.origin) is not one of the app's origins",
            .warning
        )
    }
}
