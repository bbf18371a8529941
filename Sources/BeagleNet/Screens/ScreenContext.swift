public import BeagleNetHTTP

/// The values that the expressions of a screen use, by the id of their context.
///
/// ```swift
/// var context = ScreenContext(["user": ["name": "Ada"]])
/// try context.evaluate("Hello, @{user.name}")  // "Hello, Ada"
/// ```
///
/// A value is data: an expression in a value isn't evaluated, so that the reply of a server can't make requests.
public struct ScreenContext: Sendable, Hashable {
    /// The values by the id of their context.
    public var values: [String: JSONValue]
    /// The URL of the screen, such as that of `ViewClient.FetchedScreen.response`; `nil` if it isn't known.
    ///
    /// `ScreenRequest.Rules` depend on its origin. If it isn't known, the origin is that of the container's base URL.
    public var screen: String?

    /// Creates a context.
    ///
    /// - Parameters:
    ///   - values: The values by the id of their context; empty by default.
    ///   - screen: The URL of the screen; `nil` by default.
    public init(_ values: [String: JSONValue] = [:], screen: String? = nil) {
        self.values = values
        self.screen = screen
    }

    /// Returns a value with the values of its expressions.
    ///
    /// The grammar is that of Beagle: bindings such as `user.tags[0]`, literals, and operations such as
    /// `concat(base, '/a')`. Strings at any depth are evaluated; the names of members aren't. A string that is one
    /// expression becomes the value of that expression, of any type. In other strings, `null` is an empty text.
    ///
    /// - Throws: `NetworkError` of kind `.badRequest` if an expression uses a context that isn't in `values`, an
    ///   operation that isn't known, or an object or array as a part of a text. A missing member or element is `null`.
    public func evaluate(_ value: JSONValue) throws(NetworkError) -> JSONValue {
        switch value {
        case .string(let text): return try evaluate(text)
        case .array(let elements):
            var results: [JSONValue] = []
            for element in elements { results.append(try evaluate(element)) }
            return .array(results)
        case .object(let members):
            var results: [String: JSONValue] = [:]
            for (name, member) in members { results[name] = try evaluate(member) }
            return .object(results)
        case .null, .bool, .integer, .number: return value
        }
    }

    private func evaluate(_ text: String) throws(NetworkError) -> JSONValue {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "\\") }) else {
            return .string(text)
        }
        var expression = ScreenExpression(text)
        var scope = ContextScope(values)
        guard let value = expression.evaluate(in: &scope).value.json else { throw .notEvaluated(text, scope.missing) }
        return value
    }

    /// Returns the value of a text with expressions as text, or `nil` if it is `null`, an object or an array.
    func text(_ value: JSONValue?) throws(NetworkError) -> String? {
        guard let value else { return nil }
        return Self.text(of: try evaluate(value))
    }

    /// Returns a value that has been evaluated as text, or `nil` if it is `null`, an object or an array.
    static func text(of value: JSONValue) -> String? {
        switch value {
        case .string(let text): text
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .bool(let value): "\(value)"
        case .null, .array, .object: nil
        }
    }

    /// Returns the context in which the actions after a request are evaluated, as Beagle builds it.
    ///
    /// After a success it has `onSuccess`, an object with `data`, `status` and the `statusText` `success`. After a
    /// failure it has `onError`, with `data`, `status`, and the error's message as `statusText` and `message`. `data`
    /// is the JSON of the response, or `null` if it has none. `status` is 0 if there is no response.
    ///
    /// - Parameter result: The result of the request.
    public func after(_ result: NetworkClient.NetworkResult) -> ScreenContext {
        var context = self
        switch result {
        case .success(let response):
            context.values["onSuccess"] = [
                "data": Self.json(response.data), "status": .integer(Int64(response.status.code)),
                "statusText": "success",
            ]
        case .failure(let error):
            context.values["onError"] = [
                "data": error.data.map(Self.json) ?? .null,
                "status": .integer(Int64(error.response?.status.code ?? 0)), "statusText": .string(error.message),
                "message": .string(error.message),
            ]
        }
        return context
    }

    /// Returns the JSON of a body. A body that isn't JSON is `null`, as in Beagle.
    private static func json(_ body: Data) -> JSONValue {
        do throws(NetworkError) { return try JSONValue(parsing: body) } catch { return .null }
    }
}

extension NetworkError {
    fileprivate static func notEvaluated(_ text: String, _ missing: String?) -> NetworkError {
        NetworkError(
            .badRequest,
            during: .build,
            missing.map { "the expression in \(text.debugDescription) uses the context \($0.debugDescription)" }
                ?? "the expression in \(text.debugDescription) has no value that can be sent",
            advice: missing == nil ? "check its operations and arguments" : "add the context to the ScreenContext"
        )
    }
}
