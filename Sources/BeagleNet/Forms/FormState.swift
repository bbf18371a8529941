public import BeagleNetHTTP

/// The state of a form for the view that shows it.
///
/// ```swift
/// for await state in form.states {
///     button.isEnabled = state.isValid && !state.isSubmitting
///     for input in state.inputs where input.isEdited { show(input.messages, under: input.name) }
/// }
/// ```
public struct FormState: Sendable {
    /// The outcome of the latest submission.
    public enum Status: Sendable {
        /// The form hasn't been submitted, or its submission was cancelled.
        case editing
        /// A submission is in flight.
        case submitting
        /// The server accepted the form.
        case accepted(FormReply)
        /// The form was rejected, by its own validation or by the server. `inputs` and `messages` have the reasons.
        case refused(FormReply)
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
    public let progress: TransferProgress?
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
