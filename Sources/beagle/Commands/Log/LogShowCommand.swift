import ArgumentParser
import BeagleNetHTTP
import BeagleNetReplay
import Foundation

/// The `beagle log show` command, which shows one entry in full.
struct LogShowCommand: LogSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show one entry in full.",
        discussion: """
            Shows headers, bodies, timings, and where secrets were redacted. JSON is indented; numbers and the order \
            of members are unchanged. With --json, the result is the entry in HTTP Archive format.

            EXAMPLE
              beagle log show session.bglog 1
              beagle log show session.bglog 1 --body > home.json
            """
    )

    @OptionGroup var source: LogSource

    @Argument(help: "Number or id of the entry.")
    var entry: String

    @Flag(name: .long, help: "Write only the bytes of the response body.")
    var body = false

    @Flag(name: .long, help: "Write only the bytes of the request body.")
    var sentBody = false

    func validate() throws {
        if [body, sentBody, source.json].count(where: \.self) > 1 {
            throw ValidationError("'--body', '--sent-body' and '--json' cannot be used together.")
        }
    }

    func result(on console: Console) throws -> CommandResult {
        let recording = try source.recording(on: console)
        let item = try source.entry(entry, of: recording)
        if body || sentBody {
            let body = sentBody ? item.entry.request.body : item.entry.response?.body
            return CommandResult(json: .null, output: try bytes(of: body, in: recording, item.number))
        }
        var output = JSONOutput()
        item.entry.write(to: &output)
        let text = EntryText(item, in: recording, source.redactor, console).lines.joined(separator: "\n") + "\n"
        return CommandResult(json: try JSONValue(parsing: Data(output.bytes)), output: Data(text.utf8))
    }

    private func bytes(of body: LogEntry.Body?, in recording: Recording, _ number: Int) throws -> Data {
        var reason = "the entry has no body"
        if let body {
            do throws(NetworkError) {
                return try recording.data(of: body, redactedBy: source.redactor)
            } catch {
                reason = error.message
            }
        }
        throw Failure(
            exit: ExitCode.readFailed,
            code: "no_body",
            phase: .file,
            "cannot show the body of entry \(number) of \(source.path): \(reason)"
        )
    }
}

/// An entry as text.
struct EntryText {
    private let number: Int
    private let entry: LogEntry
    private let recording: Recording
    private let redactor: Redactor?
    private let console: Console

    init(_ item: Recording.NumberedEntry, in recording: Recording, _ redactor: Redactor?, _ console: Console) {
        (number, entry) = (item.number, item.entry)
        self.recording = recording
        self.redactor = redactor
        self.console = console
    }

    var lines: [String] {
        var lines = [
            console.styled("\(number)  \(entry.request.method) ".printable, .bold) + marked(entry.request.url),
            console.styled(facts.joined(separator: " · ").printable, .dim),
        ]
        if let error = entry.error {
            lines += error.split(separator: "\n").map { console.styled(String($0).printable, .red) }
        }
        lines +=
            ["", "\(entry.request.method) \(entry.request.httpVersion)".printable] + fields(entry.request.fields, ">")
        if let body = entry.request.body { lines += [""] + text(of: body) }
        lines.append("")
        if let response = entry.response {
            lines.append("\(response.httpVersion) \(response.status) \(response.statusText)".printable)
            lines += fields(response.fields, "<") + [""] + text(of: response.body)
            if !response.trailers.isEmpty { lines += ["", "trailers"] + fields(response.trailers, "<") }
        } else {
            lines.append(console.styled(entry.isInterrupted ? "interrupted: no response" : "no response", .red))
        }
        if !entry.messages.isEmpty { lines += [""] + entry.messages.map(line) }
        lines += [""] + timings
        if !entry.redactions.isEmpty {
            lines += ["", "redacted secrets:"]
            lines += entry.redactions.map { "  " + console.styled($0.printable, .yellow) }
        }
        return lines
    }

    private var facts: [String] {
        [
            Timestamp.text(of: entry.started), entry.kind, entry.operationName.map { "operation \($0)" },
            entry.serverAddress, entry.connection.map { "connection \($0)" },
            entry.attempt > 1 ? "attempt \(entry.attempt)" : nil, entry.isFromStore ? "served from a store" : nil,
            entry.cacheStatus.map { "cache: \($0.printable)" },
            entry.isInterrupted ? "interrupted" : nil, entry.id.isEmpty ? nil : "id \(entry.id)",
        ].compactMap(\.self)
    }

    private func fields(_ fields: [LogEntry.Field], _ mark: String) -> [String] {
        fields.map { console.styled("\(mark) \($0.name): ".printable, .cyan) + marked($0.value) }
    }

    private func text(of body: LogEntry.Body) -> [String] {
        if body.content == .omitted("unknown") { return [] }
        let data: Data
        do throws(NetworkError) {
            data = try recording.data(of: body, redactedBy: redactor)
        } catch {
            return [console.styled(error.message.printable, .dim)]
        }
        var lines: [String] = []
        if let text = IndentedJSON.text(of: [UInt8](data)) ?? data.text(in: body.mediaType) {
            lines =
                text.isEmpty
                ? [] : text.split(separator: "\n", omittingEmptySubsequences: false).map { marked(String($0)) }
        } else {
            lines = [console.styled("\(byteCount(Int64(data.count))) of \(body.mediaType), not text".printable, .dim)]
        }
        if body.isTruncated {
            lines.append(console.styled("only the beginning of \(byteCount(max(body.size, 0))) was recorded", .dim))
        }
        return lines
    }

    private func line(_ message: LogEntry.Message) -> String {
        let time = Duration.seconds(message.time.timeIntervalSince(entry.started)).shown
        let text = message.opcode == 2 ? nil : message.data.text
        return "\(message.direction == .send ? "→" : "←") \(time)  "
            + marked(text ?? counted(message.data.count, "byte"))
    }

    /// The lines of the phases, each with a bar at the phase's position in the total time.
    private var timings: [String] {
        let (width, total) = (40.0, entry.timings.total.milliseconds)
        var at = 0.0
        var lines: [String] = []
        for phase in entry.timings.phases {
            guard let duration = phase.duration else { continue }
            let time = duration.milliseconds
            let start = total > 0 ? Int(at / total * width) : 0
            let length = total > 0 && time > 0 ? max(Int((time / total * width).rounded()), 1) : 0
            at += time
            let bar = String(repeating: " ", count: min(start, 39)) + String(repeating: "█", count: min(length, 40))
            lines.append("  \(phase.name.padded(8)) \(duration.shown.leftPadded(9))  \(console.styled(bar, .cyan))")
        }
        return lines + ["  \("total".padded(8)) \(entry.timings.total.shown.leftPadded(9))"]
    }

    /// Returns text from a recording without control characters, and with redacted secrets highlighted.
    private func marked(_ text: String) -> String {
        text.printable.replacing(Redactor.placeholder, with: console.styled(Redactor.placeholder, .yellow))
    }
}
