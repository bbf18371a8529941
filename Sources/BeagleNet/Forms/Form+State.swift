public import BeagleNetHTTP

extension Form {
    /// The state of a form for the view that shows it.
    ///
    /// ```swift
    /// for await state in form.states {
    ///     button.isEnabled = state.isValid && !state.isSubmitting
    ///     for input in state.inputs where input.isEdited { show(input.messages, under: input.name) }
    /// }
    /// ```
    public struct State: Sendable {
        /// The outcome of the latest submission.
        public enum Status: Sendable {
            /// The form hasn't been submitted, or its submission was cancelled.
            case editing
            /// A submission is in flight.
            case submitting
            /// The server accepted the form.
            case accepted(Reply)
            /// The form was rejected, by its own validation or by the server. `inputs` and `messages` have the reasons.
            case refused(Reply)
            /// An outbox has stored the form and sends it later.
            case kept(NetworkError)
            /// There is no reply for another reason.
            case failed(NetworkError)
        }

        /// The state of an input.
        public struct Input: Sendable, Hashable {
            /// The name of the input.
            public let name: String
            /// The errors of the form's own validation for the current value. Without any, those in the server's reply,
            /// until the value is edited.
            public let messages: [String]
            /// Whether the value has been edited since the form was created.
            public let isEdited: Bool
            /// Whether the asynchronous check of the value hasn't ended yet.
            public let isChecking: Bool
        }

        /// The outcome of the latest submission.
        public let status: Status
        /// The progress of the submission in flight, or `nil` if it isn't known, as for a client without progress.
        public let progress: TransferRequest.Progress?
        /// The inputs in the order of the form, one for each name.
        public let inputs: [Input]
        /// The errors of the form as a whole, those in the server's reply last.
        public let messages: [String]
        /// Whether the form's own validation finds no error. A check that hasn't ended yet counts as no error.
        public let isValid: Bool
        /// Whether values have been edited since they were last submitted, also while they are sent.
        ///
        /// Edits stay in the form. They are sent if the form is submitted again.
        public let hasUnsentEdits: Bool

        /// Whether a submission is in flight.
        public var isSubmitting: Bool {
            if case .submitting = status { return true }
            return false
        }
    }
}

extension Form {
    /// The current state of the form.
    public var state: State {
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
    public var states: some AsyncSequence<State, Never> & Sendable {
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
