import BeagleNet
import BeagleNetGraphQL
import BeagleNetHTTP
import BeagleNetURLSession
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The parts of a run that exchanges read: URL, header fields, document and variables.
///
/// They are created when they are read, and changes are applied to the message.
extension HostedRun {
    /// The message as exchanges see it.
    var request: URLRequest {
        var transfer = operation.transfer
        transfer.body = nil
        do throws(NetworkError) {
            return try URLRequest(transfer)
        } catch {
            return URLRequest(url: operation.request.url)
        }
    }

    /// The GraphQL parameters as exchanges see them. The document is empty if this isn't a GraphQL message.
    var args: ExecutionArgs {
        let members = operation.transfer.graphQLMembers
        return ExecutionArgs(
            query: members["query"]?.string ?? "",
            operationName: members["operationName"]?.string,
            variables: members["variables"]?.object,
            extensions: members["extensions"]?.object
        )
    }

    /// Returns the pipeline's operation with the exchanges' changes.
    func operation(with changed: Operation) throws(NetworkError) -> NetworkOperation {
        var operation = operation
        if Operation.Policy(operation.policy) != changed.policy { operation.policy = RequestPolicy(changed.policy) }
        let changed = changed.withoutForeignFields
        if let request = changed.changedRequest {
            let origin = Origin(of: operation.transfer.head)
            let before = operation.transfer.head.headerFields
            operation.transfer.head.apply(request)
            // Values that belong to the original origin don't follow a request that an exchange sends to another one,
            // as in a redirect.
            if Origin(of: operation.transfer.head) != origin {
                let (scoped, redactor) = (operation.transfer.originScopedFields, operation.redactor)
                operation.transfer.head.headerFields.removeOriginScopedFields(before, scoped, redactor)
                operation.transfer.options.removeOriginSpecificOptions()
            }
        }
        if let scope = changed.scope {
            operation.transfer.originScopedFields.formUnion(scope.names)
            operation.scope(scope.permitted)
        }
        if let args = changed.changedArgs { try operation.transfer.apply(args) }
        return operation
    }
}

extension Operation.Policy {
    init(_ policy: RequestPolicy) {
        self =
            switch policy {
            case .cacheFirst, .http: .cacheFirst
            case .cacheOnly: .cacheOnly
            case .networkOnly, .networkFirst: .networkOnly
            case .cacheAndNetwork: .cacheAndNetwork
            }
    }
}

extension RequestPolicy {
    init(_ policy: Operation.Policy) {
        self =
            switch policy {
            case .cacheFirst: .cacheFirst
            case .cacheOnly: .cacheOnly
            case .networkOnly: .networkOnly
            case .cacheAndNetwork: .cacheAndNetwork
            }
    }
}

extension HTTPRequest {
    /// Replaces the URL and header fields. Fields that the request doesn't have are removed.
    fileprivate mutating func apply(_ request: URLRequest) {
        guard let changed = HTTPRequest(request) else { return }
        (scheme, authority, path) = (changed.scheme, changed.authority, changed.path)
        // Unchanged fields keep their form, including repeated ones.
        var fields = HTTPFields()
        for field in headerFields where changed.headerFields[field.name] == headerFields[field.name] {
            fields.append(field)
        }
        for field in changed.headerFields where fields[field.name] == nil { fields.append(field) }
        headerFields = fields
    }
}

extension TransferRequest {
    /// The members of a GraphQL over HTTP request, from its body or its query string.
    ///
    /// The result is empty for other messages. That isn't an error, because other kinds of operations may go through a
    /// chain too.
    fileprivate var graphQLMembers: [String: JSONValue] {
        if let body = body?.data { return (try? JSONValue(parsing: body))?.object ?? [:] }
        var members: [String: JSONValue] = [:]
        let query = (head.path ?? "").drop { $0 != "?" }.dropFirst()
        for item in query.split(separator: "&") {
            let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, let name = PercentEncoding.decode(pair[0]),
                let value = PercentEncoding.decode(pair[1])
            else { continue }
            let isObject = name == "variables" || name == "extensions"
            members[name] = isObject ? (try? JSONValue(parsing: value)) ?? .null : .string(value)
        }
        return members
    }

    /// Replaces the GraphQL parameters in the body. A message that isn't GraphQL JSON, such as a form with files, stays
    /// as it is.
    fileprivate mutating func apply(_ args: ExecutionArgs) throws(NetworkError) {
        var members = graphQLMembers
        guard members["query"] != nil || members["extensions"] != nil else { return }
        members["query"] = args.query.isEmpty ? members["query"] : .string(args.query)
        members["operationName"] = args.operationName.map { .string($0) }
        members["variables"] = args.variables.map { .object($0) }
        members["extensions"] = args.extensions.map { .object($0) }
        body = HTTPBody(try JSONValue.object(members).data())
        head.headerFields[.contentType] = "application/json"
        if head.method == .get {
            head.method = .post
            head.path = head.path.map { String($0.prefix { $0 != "?" }) }
        }
    }
}
