package import BeagleNet

extension NetworkOperation.Kind {
    /// Every kind that the package defines.
    package static let known: [NetworkOperation.Kind] = [
        .component, .image, .form, .raw, .query, .mutation, .subscription,
    ]
}

extension NetworkOperation {
    /// An operation of a kind, as a client would make it.
    package static func of(_ kind: Kind, method: String = "POST", headers: [String: String] = [:]) -> NetworkOperation {
        let url = URL(string: "http://host/\(kind)")!
        let data = Request.RequestData(method: method, headers: headers, body: .json(["a": 1]))
        let type: Request.RequestType =
            switch kind {
            case .component: .fetchComponent
            case .image: .fetchImage
            case .form: .submitForm(.init(method: .post, values: ["a": "1"]))
            default: .rawRequest(data)
            }
        let additional = headers.isEmpty ? nil : HttpAdditionalData(headers: headers)
        // Not each kind's own, so that all kinds behave alike.
        let policy: RequestPolicy? = kind == .component ? .cacheFirst : nil
        return NetworkOperation(Request(url: url, type: type, additionalData: additional), kind: kind, policy: policy)
    }
}

extension BeagleEnvironment {
    package static let example = BeagleEnvironment(name: "example", baseURL: URL(string: "http://example.com"))
}

extension NetworkError {
    /// A failure after which the server may have acted.
    package static let lost = NetworkError(.network, during: .firstByte, "the connection was lost")
    /// A failure before anything was sent.
    package static let refused = NetworkError(.connect, during: .connect, "the connection was refused")

    package static func status(_ code: Int, _ fields: HTTPFields = [:]) -> NetworkError {
        var error = NetworkError(.status, during: .response, "the server returned \(code)")
        error.response = HTTPResponse(status: .init(code: code), headerFields: fields)
        return error
    }
}

/// The end of a pipeline that returns these outcomes in turn, and then repeats the last one.
package struct ScriptedResponses: Interceptor {
    package let operations = Lock<[NetworkOperation]>([])
    private let outcomes: [Result<NetworkOperation.Result, NetworkError>]

    package init(_ outcomes: Result<NetworkOperation.Result, NetworkError>...) {
        self.init(outcomes)
    }

    package init(_ outcomes: [Result<NetworkOperation.Result, NetworkError>]) {
        self.outcomes = outcomes
    }

    package var count: Int { operations.withLock { $0.count } }

    package func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        let number = operations.withLock { operations in
            operations.append(operation)
            return operations.count
        }
        do throws(NetworkError) {
            return try outcomes[min(number, outcomes.count) - 1].get()
        } catch {
            var error = error
            if error.request == nil { error.request = operation.transfer.head }
            throw error
        }
    }
}

/// Changes each operation.
package struct Changing: Interceptor {
    package let change: @Sendable (inout NetworkOperation) -> Void

    package init(change: @escaping @Sendable (inout NetworkOperation) -> Void) {
        self.change = change
    }

    package func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        var operation = operation
        change(&operation)
        return try await next(operation, emit)
    }

    /// Adds an origin-scoped field.
    package static func adding(_ name: HTTPField.Name, _ value: String) -> Changing {
        Changing { operation in
            operation.transfer.head.headerFields.append(HTTPField(name: name, value: value))
            operation.transfer.originScopedFields.insert(name)
        }
    }
}

/// A client with these interceptors, which uses no network.
package func client(_ interceptors: any Interceptor...) -> NetworkClientDefault {
    Beagle.dependencies.interceptors = interceptors
    return NetworkClientDefault(dependencies: Beagle.dependencies, transport: ScriptedTransport())
}
