import ArgumentParser
import BeagleNet
import BeagleNetHTTP
import Foundation

/// The `beagle outbox` command, for forms that `beagle submit --outbox` has stored.
struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "Send, list, retry or remove forms stored by 'submit --outbox'.",
        subcommands: [Flush.self, List.self, Retry.self, Remove.self]
    )

    struct Flush: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send the stored forms in order.",
            discussion: """
                Sends each form with the Idempotency-Key that it was stored with. A form that the server accepts with \
                2xx is removed from the outbox and reported on standard output. After status 408, 425, 429 or 5xx, or \
                without a response, the form and all later forms for the same server stay in the outbox, and the \
                command exits with 105. A form that the server refuses is not sent again, and the command exits with \
                22; 'outbox list' shows it, and 'outbox retry' queues it again. A form also counts as refused \
                ('redirected') if a 301 or 302 leads to another page, such as a sign-in page. Incomplete or damaged \
                files are reported, and the command exits with 101, or with 4 if a newer version of beagle wrote them. \
                Credentials are not stored: pass them to this command again.

                EXAMPLE
                  beagle submit 'http://127.0.0.1:8080/signup?answer=lost' \\
                    name=Ana email=ana@example.com --outbox forms
                  beagle outbox flush forms
                """
        )

        @Argument(help: "Directory of the outbox, as given to 'submit --outbox'.")
        var directory: String

        @OptionGroup var outboxKey: OutboxKeyFlags
        @OptionGroup var retries: RetryFlags
        @OptionGroup var flags: CommonFlags

        func run() async throws {
            let session = Session(flags)
            do {
                let options = try flags.options()
                let outbox = try Outbox(existing: directory, key: try outboxKey.key())
                try flags.check(outbox)
                let client = try session.client(of: outbox, retries.interceptors, credentialsFor: nil, options)
                try await Interrupt.cancelling {
                    try session.show(try await session.withSavedState { try await outbox.flush(with: client) })
                }
            } catch {
                let failure = flags.failure(for: error)
                session.show(failure)
                throw ExitCode(failure.exit)
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the stored forms, without queries and values.",
            discussion: """
                Writes a line for each form: its state, the time it was stored, its id, method and URL. Damaged and \
                unreadable files are listed last. The outbox is not changed.

                EXAMPLE
                  beagle outbox list forms
                """
        )

        @Argument(help: "Directory of the outbox, as given to 'submit --outbox'.")
        var directory: String

        @OptionGroup var outboxKey: OutboxKeyFlags

        @Flag(name: .long, help: "Write one JSON object to standard output, even on failure.")
        var json = false

        func run() async throws {
            let console = Console()
            do {
                let (entries, damages) = try Outbox(existing: directory, key: try outboxKey.key()).look()
                guard !json else {
                    let all = entries.map(\.json) + damages.map(\.outboxJSON)
                    return console.line("\(CommandResult(json: .array(all)).envelope(timing: [:]))")
                }
                for entry in entries {
                    let time = entry.accepted.formatted(.iso8601)
                    console.line("\(entry.word)  \(time)  \(entry.id)  \(entry.method.rawValue) \(entry.url)".printable)
                }
                for damage in damages { console.line("\(damage.outboxWord)  \(damage.message)".printable) }
            } catch {
                try console.end(with: error, json: json)
            }
        }
    }

    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Queue refused forms to be sent again.",
            discussion: """
                Moves the form with this id, or all refused forms, to the end of the queue for the same server. \
                'outbox flush' sends them.

                EXAMPLE
                  beagle outbox retry forms
                  beagle outbox flush forms
                """
        )

        @Argument(help: "Directory of the outbox, as given to 'submit --outbox'.")
        var directory: String

        @Argument(help: "Id of the form, as 'outbox list' shows it.")
        var id: String?

        @OptionGroup var outboxKey: OutboxKeyFlags

        @Flag(name: .long, help: "Write one JSON object to standard output, even on failure.")
        var json = false

        func run() async throws {
            let console = Console()
            do {
                let outbox = try Outbox(existing: directory, key: try outboxKey.key())
                let refused = try outbox.entries().filter { $0.isRefused && (id == nil || id == $0.id) }
                if let id, refused.isEmpty { throw Failure(noEntry: id, in: directory, "refused") }
                // The order is preserved.
                let retried = try refused.filter { try outbox.retry($0.id) }
                console.show(retried, json: json)
            } catch {
                try console.end(with: error, json: json)
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a form without sending it.",
            discussion: """
                If the form is being sent at this moment, it may still reach the server.

                EXAMPLE
                  beagle submit http://127.0.0.1:8080/fail name=Ana --outbox drafts
                  id=$(beagle outbox list drafts | awk '{ print $3 }')
                  beagle outbox remove drafts "$id"
                """
        )

        @Argument(help: "Directory of the outbox, as given to 'submit --outbox'.")
        var directory: String

        @Argument(help: "Id of the form, as 'outbox list' shows it.")
        var id: String

        @OptionGroup var outboxKey: OutboxKeyFlags

        @Flag(name: .long, help: "Write one JSON object to standard output, even on failure.")
        var json = false

        func run() async throws {
            let console = Console()
            do {
                let outbox = try Outbox(existing: directory, key: try outboxKey.key())
                let removed = try outbox.entries().filter { try $0.id == id && outbox.remove(id) }
                if removed.isEmpty { throw Failure(noEntry: id, in: directory, "kept") }
                console.show(removed, json: json)
            } catch {
                try console.end(with: error, json: json)
            }
        }
    }
}

extension Outbox {
    /// Opens the outbox in an existing directory.
    ///
    /// - Throws: `Failure` if the directory doesn't exist.
    convenience init(existing directory: String, key: Key?) throws {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: directory, isDirectory: &isDirectory), isDirectory.boolValue else {
            let message = "there is no outbox \(directory)"
            throw Failure(exit: ExitCode.readFailed, code: "file", phase: .build, message)
        }
        self.init(directory: directory, key: key)
    }
}

extension Failure {
    fileprivate init(noEntry id: String, in directory: String, _ state: String) {
        self.init(
            exit: ExitCode.readFailed,
            code: "file",
            phase: .build,
            "there is no \(state) form \(id) in the outbox \(directory)",
            advice: "list the forms with 'beagle outbox list \(directory)'"
        )
    }
}

extension Console {
    /// Shows the changed entries.
    fileprivate func show(_ entries: [Outbox.Entry], json: Bool) {
        guard !json else {
            let ids = entries.map { JSONValue.string($0.id) }
            return line("\(CommandResult(json: .array(ids)).envelope(timing: [:]))")
        }
        for entry in entries { line("\(entry.id)  \(entry.method.rawValue) \(entry.url)".printable) }
    }

    fileprivate func end(with error: any Error, json: Bool) throws -> Never {
        let failure = Failure(wrapping: error)
        if json { line("\(failure.envelope(timing: [:]))") } else { note(failure) }
        throw ExitCode(failure.exit)
    }
}

extension NetworkError {
    fileprivate var outboxWord: String { kind == .decoding ? "damaged" : "unreadable" }

    fileprivate var outboxJSON: JSONValue { ["state": .string(outboxWord), "message": .string(message)] }
}

extension Outbox.Entry {
    var isRefused: Bool {
        if case .refused = state { return true }
        return false
    }

    fileprivate var word: String {
        switch state {
        case .waiting: "waiting"
        case .sending: "sending"
        case .refused(let reason): "refused \(reason)"
        }
    }

    fileprivate var json: JSONValue {
        [
            "id": .string(id), "state": .string(word), "queue": .string(queue), "method": .string(method.rawValue),
            "url": .string(url), "accepted": .number(accepted.timeIntervalSince1970), "bytes": .integer(Int64(bytes)),
        ]
    }
}

extension Session {
    /// Shows the delivered forms, and throws the reason if any form was not delivered.
    fileprivate func show(_ report: Outbox.Report) throws {
        let delivered = report.delivered.map { delivery in
            let line = "\(delivery.status ?? 0) \(delivery.entry.method.rawValue) \(delivery.entry.url)"
            if !flags.json { console.line(line.printable) }
            return JSONValue.object(["id": .string(delivery.entry.id), "status": .integer(Int64(delivery.status ?? 0))])
        }
        let json: [String: JSONValue] = [
            "delivered": .array(delivered), "refused": .array(report.refused.map(\.json)),
            "waiting": .array(report.remaining.map(\.json)),
            "damaged": .array(report.damages.map { .string($0.message) }),
        ]
        for damage in report.damages { note(damage) }
        for entry in report.refused { note(entry) }
        var failure: Failure?
        if let trouble = report.abortError {
            failure = Failure(trouble)
        } else if let damage = report.damages.first {
            // Damage is reported only once, so it takes precedence over pending forms, which the next run reports
            // again.
            let count = report.damages.count
            let message = "\(counted(count, "file")) in the outbox could not be read"
            failure = Failure(
                exit: ExitCode.number(for: damage),
                code: damage.kind.rawValue,
                phase: damage.phase,
                message,
                advice: "see the files above"
            )
        } else if !report.remaining.isEmpty {
            let count = report.remaining.count
            let why = report.failures.first?.message ?? "stored since the flush began"
            let message = "\(counted(count, "form is", "forms are")) still in the outbox: \(why)"
            failure = Failure(exit: ExitCode.storedInOutbox, code: "kept", phase: .queue, message)
        } else if !report.refused.isEmpty {
            let count = report.refused.count
            let message = "the server refused \(counted(count, "form"))"
            failure = Failure(exit: ExitCode.httpError, code: "refused", phase: .response, message)
        }
        guard var failure else { return show(CommandResult(json: .object(json))) }
        failure.details = json
        throw failure
    }
}

extension CommonFlags {
    /// Checks that credentials aren't sent to several servers.
    fileprivate func check(_ outbox: Outbox) throws {
        let isSecret = !credentialFields.isEmpty || basic.access.hasCredentials
        guard isSecret else { return }
        let waiting = try outbox.entries().filter { !$0.isRefused }
        // A URL that can't be parsed may be for any server.
        let origins = Set(waiting.map { Origin(ofURL: $0.url) })
        guard origins.count > 1 || origins.contains(nil) else { return }
        throw Failure(
            exit: ExitCode.usage,
            code: "usage",
            phase: .build,
            origins.contains(nil)
                ? "the outbox has a form whose URL has no valid host"
                : "the outbox has forms for \(origins.count) servers, and all of them would receive the credentials",
            advice: "use a separate outbox for each server that needs credentials"
        )
    }
}

extension AccessFlags {
    fileprivate var hasCredentials: Bool { user != nil || bearer != nil }
}
