import ArgumentParser
import BeagleNet
import BeagleNetHTTP
import Foundation

/// `beagle outbox`: forms that `beagle submit --outbox` has kept.
struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "Send, or list, the forms that 'submit --outbox' has kept.",
        subcommands: [Flush.self, List.self]
    )

    struct Flush: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send what is kept, in its order.",
            discussion: """
                Each form goes out with the Idempotency-Key that it was kept with. What the server answers with 2xx is \
                done and has a line on standard output. After 408, 425, 429, 5xx or no answer it stays, with all behind \
                it for the same server, and the command ends with 105. What the server refuses is not sent again, and \
                the command ends with 22; 'outbox list' shows it. Credentials are not kept: give them here once more.

                EXAMPLE
                  beagle submit http://127.0.0.1:8080/signup name=Ana email=ana@example.com --outbox forms
                  beagle outbox flush forms
                """
        )

        @Argument(help: "The directory that 'submit --outbox' was given.")
        var directory: String

        @OptionGroup var retries: RetryFlags
        @OptionGroup var flags: CommonFlags

        func validate() throws {
            if flags.output != nil || flags.include || flags.offline {
                throw ValidationError("'-o', '-i' and '--offline' do not go with 'outbox flush'.")
            }
        }

        func run() async throws {
            let session = Session(flags)
            do {
                let options = try flags.options()
                let outbox = try Outbox(existing: directory)
                try flags.check(outbox)
                let client = session.client(of: outbox, retries.interceptors, credentialsFor: nil, options)
                try await Interrupt.cancelling {
                    try session.tell(try await session.remembering { try await outbox.flush(with: client) })
                }
            } catch {
                let failure = flags.failure(for: error)
                session.tell(failure)
                throw ExitCode(failure.exit)
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show what is kept, without queries and contents.",
            discussion: "A line for each: its state, when it was kept, its method and its URL."
        )

        @Argument(help: "The directory that 'submit --outbox' was given.")
        var directory: String

        @Flag(name: .long, help: "Write one JSON object on standard output, also when it fails.")
        var json = false

        func run() async throws {
            let console = Console()
            do {
                let entries = try Outbox(existing: directory).entries()
                guard !json else {
                    return console.line("\(CommandResult(json: .array(entries.map(\.json))).envelope(timing: [:]))")
                }
                for entry in entries {
                    let time = entry.accepted.formatted(.iso8601)
                    console.line("\(entry.word)  \(time)  \(entry.method.rawValue) \(entry.url)".printable)
                }
            } catch {
                let failure = Failure(wrapping: error)
                if json { console.line("\(failure.envelope(timing: [:]))") } else { console.note(failure) }
                throw ExitCode(failure.exit)
            }
        }
    }
}

extension Outbox {
    /// The outbox in a directory that is there.
    ///
    /// - Throws: `Failure` where it is not.
    convenience init(existing directory: String) throws {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: directory, isDirectory: &isDirectory), isDirectory.boolValue else {
            let message = "there is no outbox \(directory)"
            throw Failure(exit: ExitCode.readFailed, code: "file", phase: .build, message)
        }
        self.init(directory: directory)
    }
}

extension Outbox.Entry {
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
    /// Shows what was sent and, where that is not all, ends with why.
    fileprivate func tell(_ report: Outbox.Report) throws {
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
        for damage in report.damages { console.note("beagle: \(damage.message); \(damage.advice ?? "")".printable) }
        for entry in report.refused { console.note("beagle: \(entry)".printable) }
        var failure: Failure?
        if let trouble = report.trouble {
            failure = Failure(trouble)
        } else if !report.remaining.isEmpty {
            let count = report.remaining.count
            let why = report.failures.first?.message ?? "they were kept meanwhile"
            let message = "\(count) \(count == 1 ? "form waits" : "forms wait") in the outbox: \(why)"
            failure = Failure(exit: ExitCode.kept, code: "kept", phase: .queue, message)
        } else if !report.refused.isEmpty {
            let count = report.refused.count
            let message = "the server refused \(count) \(count == 1 ? "form" : "forms")"
            failure = Failure(exit: ExitCode.httpError, code: "refused", phase: .response, message)
        }
        guard var failure else { return tell(CommandResult(json: .object(json))) }
        failure.details = json
        throw failure
    }
}

extension CommonFlags {
    /// Credentials are not for several servers.
    fileprivate func check(_ outbox: Outbox) throws {
        let isSecret = !credentialFields.isEmpty || access.hasCredentials
        guard isSecret else { return }
        let origins = Set(try outbox.entries().compactMap { URL(string: $0.url).flatMap { Origin($0) } })
        guard origins.count > 1 else { return }
        throw Failure(
            exit: ExitCode.usage,
            code: "usage",
            phase: .build,
            "the outbox has forms for \(origins.count) servers, and all would get the credentials",
            advice: "keep forms for servers with credentials in outboxes of their own"
        )
    }
}

extension AccessFlags {
    fileprivate var hasCredentials: Bool { user != nil || bearer != nil }
}
