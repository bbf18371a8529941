import BeagleNet

extension NetworkOperation.Kind {
    /// Every kind that the package defines.
    static let known: [NetworkOperation.Kind] = [.component, .image, .form, .raw, .query, .mutation, .subscription]
}

extension NetworkOperation {
    /// An operation of a kind, as a client would make it.
    static func of(_ kind: Kind, method: String = "POST", headers: [String: String] = [:]) -> NetworkOperation {
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

extension NetworkError {
    /// A failure after which the server may have acted.
    static let lost = NetworkError(.network, during: .firstByte, "the connection was lost")
    /// A failure before anything was sent.
    static let refused = NetworkError(.connect, during: .connect, "the connection was refused")

    static func status(_ code: Int, _ fields: HTTPFields = [:]) -> NetworkError {
        var error = NetworkError(.status, during: .response, "the server returned \(code)")
        error.response = HTTPResponse(status: .init(code: code), headerFields: fields)
        return error
    }
}

/// The end of a pipeline that returns these outcomes in turn, and then repeats the last one.
struct ScriptedResponses: Interceptor {
    let operations = Lock<[NetworkOperation]>([])
    private let outcomes: [Result<NetworkOperation.Result, NetworkError>]

    init(_ outcomes: Result<NetworkOperation.Result, NetworkError>...) {
        self.init(outcomes)
    }

    init(_ outcomes: [Result<NetworkOperation.Result, NetworkError>]) {
        self.outcomes = outcomes
    }

    var count: Int { operations.withLock { $0.count } }

    func intercept(
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
struct Changing: Interceptor {
    let change: @Sendable (inout NetworkOperation) -> Void

    func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        var operation = operation
        change(&operation)
        return try await next(operation, emit)
    }

    /// Adds an origin-scoped field.
    static func adding(_ name: HTTPField.Name, _ value: String) -> Changing {
        Changing { operation in
            operation.transfer.head.headerFields.append(HTTPField(name: name, value: value))
            operation.transfer.originScopedFields.insert(name)
        }
    }
}

/// A client with these interceptors, which uses no network.
func client(_ interceptors: any Interceptor...) -> NetworkClientDefault {
    Beagle.dependencies.interceptors = interceptors
    return NetworkClientDefault(dependencies: Beagle.dependencies, transport: ScriptedTransport())
}
