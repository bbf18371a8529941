public import BeagleNetDependencies
public import BeagleNetHTTP
public import BeagleNetRequestBuilder

extension ScreenAction {
    /// Returns the request of the action, with the values of its expressions.
    ///
    /// | action | request |
    /// |---|---|
    /// | `beagle:sendRequest`, `sendRequest` of Nimbus | a raw request, with `data` as its JSON body |
    /// | `beagle:pushView`, `pushStack`, `resetStack`, `resetApplication`, `navigate`; `push`, `present` of Nimbus | a screen |
    /// | `beagle:formRemoteAction` | the values of `form` |
    /// | `beagle:submitForm` | the request of `form` |
    ///
    /// The container's `ScreenRequest.Rules` say which URLs, methods and header fields a screen may ask for.
    ///
    /// Values become a part of a URL as they are. Encode a value that may contain `/`, `?` or `#`.
    ///
    /// - Parameters:
    ///   - context: The values of expressions.
    ///   - form: The form around the action, for those that submit it.
    ///   - dependencies: The container whose `urlBuilder` turns paths into URLs, `Beagle.dependencies` by default.
    /// - Returns: The request, or `nil` if the action has none, such as `beagle:popView` or the push of a local screen.
    /// - Throws: `NetworkError`: `.badRequest` if an expression has no value, the method isn't known, or there is no
    ///   form to submit; `.badURL` if the URL isn't valid; `.blocked` if a rule forbids the request.
    public func request(
        in context: ScreenContext,
        form: ScreenForm? = nil,
        dependencies: BeagleDependencies = Beagle.dependencies
    ) throws(NetworkError) -> Request? {
        switch type.lowercased() {
        case "beagle:sendrequest", "sendrequest": try rawRequest(context, dependencies)
        case "beagle:pushview", "beagle:pushstack", "beagle:resetstack", "beagle:resetapplication", "beagle:navigate":
            try screenRequest(context, dependencies)
        case "push", "present": try screenRequest(context, dependencies)
        case "beagle:formremoteaction", "beagle:submitform": try formRequest(form, dependencies)
        default: nil
        }
    }

    /// The positions of the parts of a request that the action itself has.
    var pointers: RequestOfScreen.Pointers {
        RequestOfScreen.Pointers(
            url: pointer(to: member("url") == nil && member("path") != nil ? "path" : "url"),
            method: pointer(to: "method"),
            headers: pointer(to: "headers")
        )
    }

    /// Returns the URL of a text with expressions.
    ///
    /// An `@{` in a value isn't an expression, so that its `@` is encoded.
    func url(
        _ value: JSONValue?,
        _ context: ScreenContext,
        _ dependencies: BeagleDependencies
    ) throws(NetworkError) -> URL {
        let text = try context.text(value) ?? ""
        return try text.replacing("@{", with: "%40{").url(in: dependencies)
    }

    /// Returns header fields with the values of their expressions. A field that is `null` is left out.
    func headers(_ value: JSONValue?, _ context: ScreenContext) throws(NetworkError) -> [String: String] {
        var headers: [String: String] = [:]
        for (name, field) in try value.map(context.evaluate)?.object ?? [:] {
            headers[name] = ScreenContext.text(of: field)
        }
        return headers
    }

    private func rawRequest(
        _ context: ScreenContext,
        _ dependencies: BeagleDependencies
    ) throws(NetworkError) -> Request {
        let body = try member("data").map(context.evaluate)
        let data = Request.RequestData(
            method: try context.text(member("method")) ?? "GET",
            headers: try headers(member("headers"), context),
            body: body.flatMap { $0 == .null ? nil : Request.Body.json($0) }
        )
        let url = try url(member("url"), context, dependencies)
        let asked = RequestOfScreen(url, data.method ?? "GET", data.headers ?? [:], at: pointers)
        try ScreenRequestCheck(screen: context.screen, in: dependencies).check(asked)
        return Request(url: url, type: .rawRequest(data))
    }

    private func screenRequest(
        _ context: ScreenContext,
        _ dependencies: BeagleDependencies
    ) throws(NetworkError) -> Request? {
        // Nimbus, and Beagle before 1.0, have no route.
        let route = member("route") ?? (json["_beagleAction_"] == nil ? json["properties"] : json) ?? .null
        guard route["screen"] == nil, let target = route["url"] ?? route["path"] else { return nil }
        let data = route["httpAdditionalData"] ?? route
        var additional = HttpAdditionalData(headers: try headers(data["headers"], context))
        let method = try context.text(data["method"])
        let body = try data["body"].map(context.evaluate) ?? .null
        if method != nil || body != .null {
            additional.httpData = .init(method: try screenMethod(method), body: try Self.body(body))
        }
        let url = try url(target, context, dependencies)
        let asked = RequestOfScreen(url, method ?? "GET", additional.headers, at: routePointers(route))
        try ScreenRequestCheck(screen: context.screen, in: dependencies).check(asked)
        return Request(
            url: url,
            type: .fetchComponent,
            additionalData: additional == HttpAdditionalData() ? nil : additional
        )
    }

    /// The positions of a route's parts.
    private func routePointers(_ route: JSONValue) -> RequestOfScreen.Pointers {
        let start =
            if member("route") != nil {
                pointer(to: "route")
            } else {
                pointer + (json["_beagleAction_"] == nil ? "/properties" : "")
            }
        let data = start + (route["httpAdditionalData"] == nil ? "" : "/httpAdditionalData")
        return RequestOfScreen.Pointers(
            url: start + (route["url"] == nil ? "/path" : "/url"),
            method: data + "/method",
            headers: data + "/headers"
        )
    }

    private func screenMethod(_ name: String?) throws(NetworkError) -> HttpAdditionalData.Method {
        guard let method = HttpAdditionalData.Method(rawValue: (name ?? "GET").uppercased()) else {
            throw .unknownMethod(name ?? "", "GET, POST, PUT, PATCH, DELETE or HEAD")
        }
        return method
    }

    /// Returns a body in which no text looks like an expression, because its values are data.
    private static func body(_ value: JSONValue) throws(NetworkError) -> Data {
        if value == .null { return Data() }
        let text = String(decoding: try value.data(), as: UTF8.self)
        return Data(text.replacing("@{", with: #"\u0040{"#).utf8)
    }

    private func formRequest(
        _ form: ScreenForm?,
        _ dependencies: BeagleDependencies
    ) throws(NetworkError) -> Request {
        guard let form else { throw .noForm(type) }
        return try form.request(in: dependencies)
    }
}

extension NetworkError {
    fileprivate static func noForm(_ type: String) -> NetworkError {
        NetworkError(
            .badRequest,
            during: .build,
            "\(type) submits a form, and no form was passed",
            advice: "pass the ScreenForm around the action"
        )
    }

    static func unknownMethod(_ name: String, _ known: String) -> NetworkError {
        NetworkError(
            .badRequest,
            during: .build,
            "the screen has the method \(name.debugDescription)",
            advice: "use \(known)"
        )
    }
}
