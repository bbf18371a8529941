import ArgumentParser
import BeagleNet
import BeagleNetReplay

/// The reason that a command failed, and its exit code. Secrets are redacted before output.
struct Failure: Error {
    /// The exit code.
    var exit: Int32
    /// The error code for scripts, such as `timeout`, `status` or `not_a_screen`.
    var code: String
    /// The phase in which the error occurred.
    var phase: NetworkError.Phase
    /// The error message: what failed, and why.
    var message: String
    /// Advice on how to resolve the problem.
    var advice: String?
    /// The URL of the request.
    var url: String?
    /// Additional members for `--json`, such as the status or the fields of a form.
    var details: [String: JSONValue] = [:]
    /// Members in their original notation, so that numbers keep all digits.
    var written: [String: String] = [:]
    /// The errors of a form or its fields.
    var errors: [Form.FieldError] = []
    /// The recorded entries that are most similar to a request without a recorded response.
    var nearest: [ReplayTransport.Miss.Near] = []
    /// The output that is written in spite of the failure, such as the body of a 404.
    var output = Data()

    init(exit: Int32, code: String, phase: NetworkError.Phase, _ message: String, advice: String? = nil) {
        self.exit = exit
        self.code = code
        self.phase = phase
        self.message = message
        self.advice = advice
    }

    /// Creates the failure for a failed transfer.
    init(_ error: NetworkError) {
        self.init(
            exit: ExitCode.number(for: error),
            code: error.kind.rawValue,
            phase: error.phase,
            error.message,
            advice: error.advice
        )
        url = error.url ?? error.request?.urlText
        details["status"] = error.response.map { .integer(Int64($0.status.code)) }
        guard let miss = error.underlying as? ReplayTransport.Miss else { return }
        message = miss.reason
        nearest = miss.nearest
        details["nearest"] = miss.json
    }

    /// Creates the failure for any error that a command throws.
    init(wrapping error: any Error) {
        switch error {
        case let failure as Failure:
            self = failure
        case let interrupt as Interrupt:
            let cause = Failure(wrapping: interrupt.cause)
            self.init(exit: interrupt.exitCode, code: "interrupted", phase: cause.phase, "interrupted")
            url = cause.url
            details = cause.details
        case let error as NetworkError:
            self.init(error)
        default:
            self.init(NetworkError(wrapping: error))
            // These are errors of the system or this tool, whose own descriptions are the most helpful.
            if !(error is CancellationError) { (message, advice) = (String(describing: error), nil) }
        }
    }

    /// Creates the failure for a status of 400 or above.
    init(_ response: ReceivedResponse) {
        self.init(exit: ExitCode.httpError, code: "status", phase: .response, response.head.statusLine)
        let problem = Problem(response.body)
        if let detail = problem?.detail { message += ": \(detail)" }
        if response.head.status == .unauthorized {
            advice = DigestChallenge.unsupportedReason(in: response.head.headerFields)
        }
        url = response.url
        details["status"] = .integer(Int64(response.head.status.code))
        details["body"] = response.jsonBody
        errors = problem?.errors ?? []
        let fields = Dictionary(grouping: errors.filter { $0.field != nil }) { $0.field ?? "" }
        guard !fields.isEmpty else { return }
        details["fields"] = .object(
            fields.mapValues { errors in
                .string(Redactor.standard.redact(text: errors.map(\.message).joined(separator: "; ")))
            }
        )
    }

    /// The message, with the phase of the transfer unless the message already mentions it.
    var sentence: String {
        if phase == .build, Self.unbuildable.contains(code) { return "\(message); nothing was sent" }
        let words = message.lowercased()
        guard let doing = phase.doing, !doing.signs.contains(where: words.contains) else { return message }
        return "\(message) while \(doing.clause)"
    }

    /// The error codes of requests that can't be built.
    private static let unbuildable = [NetworkError.Kind.badURL, .badRequest, .unsupportedScheme].map(\.rawValue)

    private var json: JSONValue {
        var members = details
        members["code"] = .string(code)
        members["phase"] = .string(phase.rawValue)
        members["message"] = .string(Redactor.standard.redact(text: message))
        members["advice"] = advice.map { .string(Redactor.standard.redact(text: $0)) }
        members["url"] = url.map { .string(Redactor.standard.redact(url: $0)) }
        return .object(members)
    }

    /// Returns the JSON object for `--json`.
    func envelope(timing: JSONValue) -> String {
        let error = json.text(with: written)
        return JSONNode.object(of: ["ok": "false", "exit": "\(exit)", "error": error, "timing": "\(timing)"])
    }
}

extension NetworkError {
    /// Whether the advice refers to this library's API, which users of the tool don't see.
    var advisesOnAPI: Bool {
        ["Timeouts.", "TLS.Trust", "TransferOptions.", "AddressGuard", "RedirectPolicy."].contains {
            advice?.contains($0) == true
        }
    }
}

extension NetworkError.Phase {
    /// A description of the phase, and words that show that a message already mentions it.
    fileprivate var doing: (clause: String, signs: [String])? {
        switch self {
        case .resolve: ("resolving the host name", ["resolv"])
        case .connect: ("connecting", ["connect"])
        case .tls: ("negotiating TLS", ["tls", "ssl", "certificate"])
        case .send: ("sending the request", ["send", "sent"])
        case .firstByte: ("waiting for the first byte", ["response head"])
        case .body:
            (
                "receiving the body",
                ["body", "websocket", "conversation", "listening", " ping ", "message", "event stream"]
            )
        case .redirect: ("following a redirect", ["redirect"])
        default: nil
        }
    }
}

extension Console {
    /// Writes the message, the errors of form fields, and advice.
    func note(_ failure: Failure) {
        var text = failure.sentence.printable
        if let url = failure.url { text = "\(Redactor.standard.redact(url: url)): \(text)" }
        note("\(styledNote("beagle:", .red)) \(text)")
        let width = failure.errors.compactMap(\.field?.count).max() ?? 0
        for error in failure.errors {
            guard let field = error.field else {
                note("  \(error.message)")
                continue
            }
            let padding = String(repeating: " ", count: width - field.count)
            note("  \(styledNote(field, .bold))\(padding)  \(error.message)")
        }
        for near in failure.nearest { note("  nearest: \(near)".printable) }
        if let advice = failure.advice { note("  \(advice)") }
    }
}
