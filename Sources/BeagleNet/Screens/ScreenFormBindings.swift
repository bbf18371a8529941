import BeagleNetHTTP

/// The places in contexts at which a form's inputs have their values, and the errors that depend on them.
struct ScreenFormBindings: Sendable {
    /// A text input of a screen that may have an error.
    struct TextInput: Sendable {
        /// The name of the form's input, or `nil` if the form has none with this value.
        let name: String?
        /// The expression of the error.
        let error: JSONValue
        /// The values of the contexts inside of the form that the expression may use.
        let contexts: [String: JSONValue]
    }

    let base: ScreenContext
    /// The places by the name of the input.
    let paths: [String: ContextPath]
    var textInputs: [TextInput] = []

    /// Returns the context with the values of these inputs. A value with a file has no place in a context.
    func context(of inputs: [Form.Input]) -> ScreenContext {
        var context = base
        for input in inputs {
            guard let path = paths[input.name], let value = input.value.json else { continue }
            let root = context.values[path.id] ?? .null
            context.values[path.id] = root.replacing(path.steps[...], with: value)
        }
        return context
    }

    /// Returns the errors of the text inputs whose `error` isn't empty.
    ///
    /// An expression without a value is no error, because a form could never be sent then; the server checks the
    /// values.
    func errors(of inputs: [Form.Input]) -> [Form.FieldError] {
        let context = context(of: inputs)
        return textInputs.compactMap { input in
            do throws(NetworkError) {
                var context = context
                context.values.merge(input.contexts) { $1 }
                guard let text = try context.text(input.error), !text.isEmpty else { return nil }
                return Form.FieldError(field: input.name, message: text)
            } catch {
                Beagle.dependencies.logger.log(FormLog(message: "Could not evaluate an error: \(error.message)"))
                return nil
            }
        }
    }
}
