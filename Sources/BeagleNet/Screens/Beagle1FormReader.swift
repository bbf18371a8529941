import BeagleNetDependencies
import BeagleNetHTTP
import BeagleNetRequestBuilder

/// A reader of `beagle:form` of Beagle 1.x, whose inputs have names.
struct Beagle1FormReader {
    let context: ScreenContext

    /// Returns the form, or `nil` if it isn't sent to a server.
    func form(_ json: JSONValue, at pointer: String) throws(NetworkError) -> ScreenForm? {
        // `action` is the name before 1.0.
        let submission = ["onSubmit", "action"].flatMap { ScreenAction.list(json[$0], at: "\(pointer)/\($0)") }
        guard let action = submission.first(where: { $0.type.lowercased() == "beagle:formremoteaction" }) else {
            return nil
        }
        var inputs: [Form.Input] = []
        for input in json.components("beagle:forminput", notIn: "beagle:form") {
            if let input = try self.input(input) { inputs.append(input) }
        }
        let name = (action.member("method")?.string ?? "POST").uppercased()
        guard let method = FormRemoteAction.Method(rawValue: name) else {
            throw .unknownMethod(name, "GET, POST, PUT or DELETE")
        }
        let form = Form(inputs, method: method, group: json["group"]?.string ?? action.member("group")?.string)
        let additional = json["additionalData"] ?? action.member("additionalData") ?? .null
        form.additionalData = try context.evaluate(additional).object?.mapValues(Form.Value.init) ?? [:]
        return ScreenForm(
            form,
            // A text and not an expression in Beagle.
            to: action.member("path")?.string ?? "",
            headers: [:],
            action: action,
            storesFields: json["shouldStoreFields"]?.bool ?? false,
            bindings: ScreenFormBindings(base: context, paths: [:])
        )
    }

    private func input(_ json: JSONValue) throws(NetworkError) -> Form.Input? {
        guard let name = json["name"]?.string else { return nil }
        let value = try (json["child"]?["value"]).map(context.evaluate) ?? .null
        var input = Form.Input(name, Form.Value(value), isRequired: json["required"]?.bool ?? false)
        let message = json["errorMessage"]?.string
        if let message { input.requiredMessage = message }
        if let validator = validator(json["validator"]?.string) {
            input.validators = [message.map(validator.with(message:)) ?? validator]
        }
        return input
    }

    private func validator(_ name: String?) -> Form.Validator? {
        guard let name else { return nil }
        let validator = Beagle.dependencies.formValidators[name]
        if validator == nil {
            let message = "A screen names the form validator \(name.debugDescription), which isn't in formValidators"
            Beagle.dependencies.logger.log(FormLog(message: message))
        }
        return validator
    }
}
