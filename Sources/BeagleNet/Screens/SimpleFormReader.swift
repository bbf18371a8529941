import BeagleNetHTTP
import BeagleNetRequestBuilder

/// A reader of `beagle:simpleForm`, whose values are in a context.
struct SimpleFormReader {
    let context: ScreenContext
    /// The contexts of the app, which take precedence over those that components declare.
    let given: ScreenContext

    /// Returns the form, or `nil` if it doesn't send a request.
    func form(_ json: JSONValue, at pointer: String) throws(NetworkError) -> ScreenForm? {
        let submission = ScreenAction.list(json["onSubmit"], at: pointer + "/onSubmit")
        guard let action = submission.first(where: { $0.type.lowercased() == "beagle:sendrequest" }) else { return nil }
        let data = action.member("data") ?? .object([:])
        guard let layout = try FormLayout(context.evaluate(data)) else { throw .notAForm("isn't an object") }
        let (bindings, secrets) = bindings(data, layout, json)
        let (method, httpData) = try method(action)
        let form = Form(
            layout.inputs.map { name, value in
                Form.Input(name, Form.Value(value), isSecret: secrets.contains(name) ? true : nil)
            },
            method: method,
            httpData: httpData,
            layout: layout,
            screenErrors: bindings.errors(of:)
        )
        return ScreenForm(
            form,
            to: (try context.text(action.member("url")) ?? "").replacing("@{", with: "%40{"),
            headers: try action.headers(action.member("headers"), context),
            action: action,
            validationErrorActions: ScreenAction.list(json["onValidationError"], at: pointer + "/onValidationError"),
            bindings: bindings
        )
    }

    /// Finds the place of each value of `data`, the text inputs with the values of these places, and the names of
    /// those for passwords.
    private func bindings(
        _ data: JSONValue,
        _ layout: FormLayout,
        _ json: JSONValue
    ) -> (ScreenFormBindings, secrets: Set<String>) {
        let paths = layout.paths.compactMapValues { Self.place(of: $0, in: data) }
        let names = Dictionary(paths.map { ($0.value, $0.key) }, uniquingKeysWith: min)
        var (textInputs, secrets) = ([ScreenFormBindings.TextInput](), Set<String>())
        forEachTextInput(below: json, [:]) { input, contexts in
            let path = ContextPath(input["value"]).flatMap { contexts[$0.id] == nil ? $0 : nil }
            let name = path.flatMap { names[$0] }
            if let name, input["type"]?.string?.uppercased() == "PASSWORD" { secrets.insert(name) }
            guard let error = input["error"] else { return }
            textInputs.append(ScreenFormBindings.TextInput(name: name, error: error, contexts: contexts))
        }
        return (ScreenFormBindings(base: context, paths: paths, textInputs: textInputs), secrets)
    }

    /// Returns the place in the contexts of a value of `data`, which may be below a place that an expression names.
    private static func place(of path: [ContextPath.Step], in data: JSONValue) -> ContextPath? {
        for count in 0...path.count {
            guard var place = ContextPath(data.value(at: Array(path[..<count]))) else { continue }
            place.steps += path[count...]
            return place
        }
        return nil
    }

    /// Calls a function with each text input of the form, and the contexts that components around it declare.
    private func forEachTextInput(
        below value: JSONValue,
        _ outer: [String: JSONValue],
        _ body: (JSONValue, [String: JSONValue]) -> Void
    ) {
        for (name, child) in value.children where name != "context" {
            if child.componentType == "beagle:simpleform" { continue }
            var contexts = outer
            if let id = child["context"]?["id"]?.string, given.values[id] == nil {
                contexts[id] = child["context"]?["value"] ?? .null
            }
            if child.componentType == "beagle:textinput" { body(child, contexts) }
            forEachTextInput(below: child, contexts, body)
        }
    }

    private func method(
        _ action: ScreenAction
    ) throws(NetworkError) -> (FormRemoteAction.Method, HttpAdditionalData.HttpData?) {
        let name = (try context.text(action.member("method")) ?? "GET").uppercased()
        if name == "PATCH" { return (.post, .init(method: .PATCH)) }
        guard let method = FormRemoteAction.Method(rawValue: name) else {
            throw .unknownMethod(name, "GET, POST, PUT, PATCH or DELETE")
        }
        return (method, nil)
    }
}

extension JSONValue {
    /// The elements, or the members sorted by name.
    fileprivate var children: [(name: String, value: JSONValue)] {
        array?.map { ("", $0) } ?? object?.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } ?? []
    }
}

extension NetworkError {
    fileprivate static func notAForm(_ problem: String) -> NetworkError {
        NetworkError(
            .unsupported,
            during: .build,
            "the data of a simple form \(problem)",
            advice: "send it with ScreenAction.request(in:), which supports any JSON"
        )
    }
}
