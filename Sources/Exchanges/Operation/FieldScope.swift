import BeagleNetHTTP
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Header fields that belong to one origin: no other is to have them, whatever exchanges make of the URL.
struct FieldScope: Sendable, Hashable {
    var names: Set<HTTPField.Name>
    let origin: Origin
}

extension Operation {
    /// The operation without the fields that belong to another origin than the one it goes to.
    var withoutForeignFields: Operation {
        guard let scope, request.url.flatMap({ Origin($0) }) != scope.origin else { return self }
        var operation = self
        for name in scope.names { operation.request.setValue(nil, forHTTPHeaderField: name.rawName) }
        operation.scope = nil
        return operation
    }

    /// The operation with a field that belongs to the origin that it goes to.
    func setting(_ header: String, to value: String) -> Operation {
        var operation = withoutForeignFields
        operation.request.setValue(value, forHTTPHeaderField: header)
        let name = HTTPField.Name(header)
        guard let name, let origin = request.url.flatMap({ Origin($0) }) else { return operation }
        operation.scope = FieldScope(names: operation.scopedFields.union([name]), origin: origin)
        return operation
    }

    /// The fields that belong to the origin that it goes to.
    var scopedFields: Set<HTTPField.Name> { scope?.names ?? [] }
}
