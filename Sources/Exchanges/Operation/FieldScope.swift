import BeagleNetHTTP
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Header fields that belong to one origin: no other is to have them, whatever exchanges make of the URL.
struct FieldScope: Sendable, Hashable {
    var names: Set<HTTPField.Name>
    /// Those of them that this origin may have although it is not declared.
    var permitted: Set<HTTPField.Name> = []
    /// nil where the URL has none, as a relative one.
    let origin: Origin?
}

extension Operation {
    /// The origin that it goes to; nil where its URL has none.
    var origin: Origin? { request.url.flatMap { Origin($0) } }

    /// The operation without the fields that belong to another origin than the one it goes to.
    var withoutForeignFields: Operation {
        guard let scope, origin != scope.origin else { return self }
        var operation = self
        for name in scope.names { operation.request.setValue(nil, forHTTPHeaderField: name.rawName) }
        operation.scope = nil
        return operation
    }

    /// The operation with a field that belongs to the origin that it goes to, which its exchange trusts with it.
    func setting(_ header: String, to value: String) -> Operation {
        var operation = withoutForeignFields
        operation.request.setValue(value, forHTTPHeaderField: header)
        guard let name = HTTPField.Name(header) else { return operation }
        var scope = operation.scope ?? FieldScope(names: [], origin: operation.origin)
        scope.names.insert(name)
        scope.permitted.insert(name)
        operation.scope = scope
        return operation
    }

    /// The operation as it was made, whose secret fields belong to the origin that it was made for.
    func scopingSecrets(_ redactor: Redactor) -> Operation {
        guard scope == nil, let fields = request.allHTTPHeaderFields else { return self }
        let names = Set(fields.keys.filter { redactor.isSecret(header: $0) }.compactMap { HTTPField.Name($0) })
        if names.isEmpty { return self }
        var operation = self
        operation.scope = FieldScope(names: names, permitted: names, origin: origin)
        return operation
    }

    /// The fields that belong to the origin that it goes to.
    var scopedFields: Set<HTTPField.Name> { scope?.names ?? [] }
}

extension HTTPFields {
    /// Drops what a message that is sent elsewhere leaves behind, as in a redirect: what belongs to the origin it was to go to.
    ///
    /// - Parameters:
    ///   - before: its fields when it was to go there; what it was given since is for where it goes now.
    ///   - scoped: those that belong to that origin, beside all that hold secrets.
    mutating func leaveBehind(_ before: HTTPFields, _ scoped: Set<HTTPField.Name>, _ redactor: Redactor) {
        removeAll { field in
            guard before.contains(field) else { return false }
            return scoped.contains(field.name) || redactor.isSecret(header: field.name.rawName)
        }
    }
}
