public import BeagleNetDependencies
public import BeagleNetHTTP
public import BeagleNetRequestBuilder

/// A form of a screen as a `Form`, with the destination that the screen names.
///
/// ```swift
/// let forms = try ScreenForm.forms(in: screen, context: context)
/// forms[0].form["email"] = "ada@example.com"
/// let reply = try await client.submit(forms[0].form, to: forms[0].target, headers: forms[0].headers)
/// ```
///
/// A `beagle:form` of Beagle 1.x has the inputs of its `beagle:formInput`, with the validators that they name (see
/// `formValidators`). Its `group` and `additionalData` become those of the `Form`, and a `beagle:formRemoteAction` its
/// destination.
///
/// A `beagle:simpleForm` has an input for each value in the `data` of the first `beagle:sendRequest` in its `onSubmit`.
/// The name of a value in an object is its path, such as `address.city` or `items[0].count`; the server receives the
/// objects.
/// It is valid if the `error` of each of its `beagle:textInput` is empty, evaluated with the current values of the
/// inputs. An error belongs to the input whose expression in `data` is the `value` of the text input, and otherwise to
/// the form as a whole.
///
/// Errors in the server's reply are about inputs of the same names.
public struct ScreenForm: Sendable {
    /// The form, with the values of the screen. Keep it as long as the screen is shown: the form recognizes a second
    /// tap.
    public let form: Form
    /// The path or URL to which the form is submitted.
    public let target: String
    /// The header fields of the request; empty for a form of Beagle 1.x.
    public let headers: [String: String]
    /// The action that submits the form, with its expressions.
    public let action: ScreenAction
    /// The actions to run if the form's own validation fails (`onValidationError`); empty for a form of Beagle 1.x.
    public let validationErrorActions: [ScreenAction]
    /// Whether a form of Beagle 1.x asks to store its values when it is submitted (`shouldStoreFields`).
    ///
    /// A form with a group is stored until the server accepts it, whether or not the screen asks for it. Call
    /// `Form.save()` to store the values of a page that is submitted to the app.
    public let storesFields: Bool
    private let bindings: ScreenFormBindings

    init(
        _ form: Form,
        to target: String,
        headers: [String: String],
        action: ScreenAction,
        validationErrorActions: [ScreenAction] = [],
        storesFields: Bool = false,
        bindings: ScreenFormBindings
    ) {
        self.form = form
        self.target = target
        self.headers = headers
        self.action = action
        self.validationErrorActions = validationErrorActions
        self.storesFields = storesFields
        self.bindings = bindings
    }

    /// The context of the form with the current values of its inputs, for the expressions of other actions.
    public var context: ScreenContext { bindings.context(of: form.inputs) }

    /// Returns the request that submits the form, whether or not it is valid. `NetworkClient.submit` also validates it,
    /// sends it only once, and reads the server's errors.
    ///
    /// - Parameter dependencies: The container whose `urlBuilder` turns paths into URLs, `Beagle.dependencies` by
    ///   default.
    /// - Throws: `NetworkError`: `.badURL` if the target isn't a path or URL, `.blocked` if the container's
    ///   `ScreenRequest.Rules` forbid the request, or an error if stored values can't be read.
    public func request(
        in dependencies: BeagleDependencies = Beagle.dependencies
    ) throws(NetworkError) -> Request {
        let data: HttpAdditionalData? =
            headers.isEmpty && form.httpData == nil
            ? nil : HttpAdditionalData(httpData: form.httpData, headers: headers)
        let url = try target.url(in: dependencies)
        try check(url, in: dependencies)
        return Request(
            url: url,
            type: .submitForm(try form.data()),
            additionalData: data
        )
    }

    /// Checks the rules for requests of screens. A target that isn't a URL is left to the submission, which refuses it.
    func check(in dependencies: BeagleDependencies) throws(NetworkError) {
        guard let url = dependencies.urlBuilder.build(path: target) else { return }
        try check(url, in: dependencies)
    }

    private func check(_ url: URL, in dependencies: BeagleDependencies) throws(NetworkError) {
        let method = form.httpData?.method.rawValue ?? form.method.rawValue
        let asked = RequestOfScreen(url, method, headers, at: action.pointers)
        try ScreenRequestCheck(screen: bindings.base.screen, in: dependencies).check(asked)
    }
}

extension ScreenForm {
    /// Returns the forms of a screen that are sent to a server, in the order of the screen.
    ///
    /// Forms that only run actions of the app aren't returned. If one form can't be read, none is returned: pass the
    /// JSON of a form's component to read it alone.
    ///
    /// - Parameters:
    ///   - screen: The JSON of a screen or of a component.
    ///   - context: The values of contexts. They take precedence over the values that the screen's components declare.
    ///     An empty context by default.
    /// - Throws: `NetworkError`: `.badRequest` if an expression has no value, or if the method isn't one of a form;
    ///   `.blocked` if the `ScreenRequest.Rules` of the current container forbid a form's request; `.unsupported` if
    ///   `data` of a simple form isn't an object. Use `ScreenAction.request(in:form:dependencies:)` for such a request.
    public static func forms(
        in screen: JSONValue,
        context: ScreenContext = ScreenContext()
    ) throws(NetworkError) -> [ScreenForm] {
        var forms: [ScreenForm] = []
        try ScreenFormReader(given: context).read(screen, at: "", context, &forms)
        return forms
    }
}

extension BeagleDependencies {
    /// The validators that forms of Beagle 1.x name: `required`, `email` and `number` by default.
    ///
    /// An input whose validator isn't there is validated by the server alone; the log names the validator.
    public var formValidators: [String: Form.Validator] {
        get { self[FormValidatorsKey.self] }
        set { self[FormValidatorsKey.self] = newValue }
    }
}

enum FormValidatorsKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> [String: Form.Validator] {
        ["required": .required, "email": .email, "number": .number]
    }
}
