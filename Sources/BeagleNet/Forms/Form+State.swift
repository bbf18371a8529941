extension Form {
    /// The current state of the form.
    public var state: FormState {
        let (inputs, contents) = (inputs, contents)
        return monitor.formState(
            contents,
            names: inputs.map(\.name),
            errors(of: inputs),
            checking: Set(inputs.filter(checks.isChecking).map(\.name))
        )
    }

    /// The current state, and the state after each change: of a value, a check, or a submission.
    ///
    /// A view that is slower than the changes receives only the latest state. The sequence ends when the form is
    /// released, and doesn't keep it alive.
    public var states: some AsyncSequence<FormState, Never> & Sendable {
        monitor.changes().compactMap { @Sendable [weak self] _ in self?.state }
    }

    /// Returns the errors of the form's own validation, with those of ended asynchronous checks.
    func errors(of inputs: [Input]) -> [FieldError] {
        let errors = inputs.compactMap { input in
            let message = input.message(in: inputs) ?? checks.message(for: input)?.localizedText
            return message.map { FieldError(field: input.name, message: $0) }
        }
        return errors + (screenErrors?(inputs) ?? [])
    }
}
