import BeagleNetHTTP
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Header fields that may be sent to one origin only, even if an exchange changes the URL.
struct FieldScope: Sendable, Hashable {
    var names: Set<HTTPField.Name>
    /// The fields in `names` that may be sent to this origin although it isn't declared.
    var permitted: Set<HTTPField.Name> = []
    /// `nil` if the URL has no origin, for example because it is relative.
    let origin: Origin?
}

extension Operation {
    /// The origin of the operation's URL, or `nil` if the URL has none.
    var origin: Origin? { request.url.flatMap { Origin($0) } }

    /// The operation without header fields that are scoped to a different origin than its own.
    var withoutForeignFields: Operation {
        guard let scope, origin != scope.origin else { return self }
        var operation = self
        for name in scope.names { operation.request.setValue(nil, forHTTPHeaderField: name.rawName) }
        operation.scope = nil
        return operation
    }

    /// Returns the operation with a header field that is scoped to the operation's origin, which the exchange trusts
    /// with it.
    func settingScopedHeader(_ header: String, to value: String) -> Operation {
        var operation = withoutForeignFields
        operation.request.setValue(value, forHTTPHeaderField: header)
        guard let name = HTTPField.Name(header) else { return operation }
        var scope = operation.scope ?? FieldScope(names: [], origin: operation.origin)
        scope.names.insert(name)
        scope.permitted.insert(name)
        operation.scope = scope
        return operation
    }

    /// Returns the newly created operation with its secret header fields scoped to its origin.
    func scopingSecrets(_ redactor: Redactor) -> Operation {
        guard scope == nil, let fields = request.allHTTPHeaderFields else { return self }
        let names = Set(fields.keys.filter { redactor.isSecret(header: $0) }.compactMap { HTTPField.Name($0) })
        if names.isEmpty { return self }
        var operation = self
        operation.scope = FieldScope(names: names, permitted: names, origin: origin)
        return operation
    }

    /// The names of the header fields that are scoped to the operation's origin.
    var scopedFields: Set<HTTPField.Name> { scope?.names ?? [] }
}

extension HTTPFields {
    /// Removes the header fields that must not follow a request to another origin, for example in a redirect.
    ///
    /// - Parameters:
    ///   - before: The fields of the request to the original origin. Fields that were set or changed since then stay.
    ///   - scoped: The fields that are scoped to the original origin. Fields that hold secrets are removed too.
    mutating func removeOriginScopedFields(_ before: HTTPFields, _ scoped: Set<HTTPField.Name>, _ redactor: Redactor) {
        removeAll { field in
            guard before.contains(field) else { return false }
            return scoped.contains(field.name) || redactor.isSecret(header: field.name.rawName)
        }
    }
}
