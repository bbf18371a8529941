import BeagleNetHTTP
import BeagleNetRequestBuilder

/// A reader of `beagle:simpleForm`, whose values are in a context.
struct SimpleFormReader {
    let context: ScreenContext

    /// Returns the form, or `nil` if it doesn't send a request.
    func form(_ json: JSONValue, at pointer: String) throws(NetworkError) -> ScreenForm? {
        let submission = ScreenAction.list(json["onSubmit"], at: pointer + "/onSubmit")
        guard let action = submission.first(where: { $0.type.lowercased() == "beagle:sendrequest" }) else { return nil }
        let data = action.member("data") ?? .object([:])
        guard let values = try context.evaluate(data).object else { throw .notAForm("isn't an object") }
        if let name = values.first(where: { $0.value.hasObject })?.key {
            throw .notAForm("has an object in its member \(name.debugDescription)")
        }
        let bindings = bindings(data, values.keys, json)
        let (method, httpData) = try method(action)
        let form = Form(
            values.sorted { $0.key < $1.key }.map { Form.Input($0.key, FormValue($0.value)) },
            method: method,
            httpData: httpData,
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

    /// Finds the place of each member of `data`, and the text inputs with the values of these places.
    private func bindings(
        _ data: JSONValue,
        _ names: some Collection<String>,
        _ json: JSONValue
    ) -> ScreenFormBindings {
        let whole = ContextPath(data)
        var paths: [String: ContextPath] = [:]
        for name in names {
            paths[name] = ContextPath(data[name])
            if let whole { paths[name] = ContextPath(id: whole.id, steps: whole.steps + [.name(name)]) }
        }
        var bindings = ScreenFormBindings(base: context, paths: paths)
        bindings.textInputs = json.components("beagle:textinput", notIn: "beagle:simpleform").compactMap { input in
            guard let error = input["error"] else { return nil }
            let path = ContextPath(input["value"])
            let name = path.flatMap { path in paths.filter { $0.value == path }.keys.min() }
            return ScreenFormBindings.TextInput(name: name, error: error)
        }
        return bindings
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
    /// Whether the value is an object, or an array with one.
    fileprivate var hasObject: Bool { object != nil || array?.contains(where: \.hasObject) == true }
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
