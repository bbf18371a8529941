import ArgumentParser
import BeagleNet
import BeagleNetReplay

/// Why a command did not do what it was asked, and with which number it ends. What is shown of it passes the redactor.
struct Failure: Error {
    /// The exit code.
    var exit: Int32
    /// One word for programs: `timeout`, `status`, `not_a_screen`.
    var code: String
    /// What was being done.
    var phase: NetworkError.Phase
    /// What failed and why.
    var message: String
    /// What to try.
    var advice: String?
    /// What was asked.
    var url: String?
    /// More for `--json`: the status, the fields of a form.
    var details: [String: JSONValue] = [:]
    /// The same as it is written, so that no number loses digits.
    var written: [String: String] = [:]
    /// What is wrong with the fields of a form, or with all of it.
    var errors: [FieldError] = []
    /// What a recording has instead of an answer.
    var nearest: [ReplayMiss.Near] = []
    /// What goes to standard output all the same, such as the body of a 404.
    var output = Data()

    init(exit: Int32, code: String, phase: NetworkError.Phase, _ message: String, advice: String? = nil) {
        self.exit = exit
        self.code = code
        self.phase = phase
        self.message = message
        self.advice = advice
    }

    /// A transfer that failed.
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
        guard let miss = error.underlying as? ReplayMiss else { return }
        message = miss.reason
        nearest = miss.nearest
        details["nearest"] = miss.json
    }

    /// Any error that a command throws.
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
            // Errors here are the system's and our own: a person needs their words.
            if !(error is CancellationError) { (message, advice) = (String(describing: error), nil) }
        }
    }

    /// A status of 400 or above.
    init(_ response: ReceivedResponse) {
        self.init(exit: ExitCode.httpError, code: "status", phase: .response, response.head.statusLine)
        let problem = Problem(response.body)
        if let detail = problem?.detail { message += ": \(detail)" }
        if response.head.status == .unauthorized { advice = DigestChallenge.obstacle(in: response.head.headerFields) }
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

    /// The message, and what was being done where the message doesn't tell.
    var sentence: String {
        if phase == .build, Self.unbuildable.contains(code) { return "\(message); nothing was sent" }
        let words = message.lowercased()
        guard let doing = phase.doing, !doing.signs.contains(where: words.contains) else { return message }
        return "\(message) while \(doing.clause)"
    }

    /// Codes of requests that cannot be built.
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

    /// The one object of `--json`.
    func envelope(timing: JSONValue) -> String {
        let error = json.text(with: written)
        return JSONNode.object(of: ["ok": "false", "exit": "\(exit)", "error": error, "timing": "\(timing)"])
    }
}

extension NetworkError {
    /// Whether the advice is to change something of the library's API, which a user of the tool does not see.
    var advisesOnAPI: Bool {
        ["Timeouts.", "TLSTrust", "TransferOptions.", "AddressGuard"].contains { advice?.contains($0) == true }
    }
}

extension NetworkError.Phase {
    /// The phase of a transfer in words, and how a message shows that it speaks of it already.
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
    /// Says why a command failed, which fields of a form are wrong, and what to try.
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
