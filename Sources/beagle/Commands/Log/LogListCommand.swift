import ArgumentParser
import BeagleNetHTTP
import BeagleNetReplay
import Foundation

/// The `beagle log list` command, which writes a line for each entry.
struct LogListCommand: LogSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the entries, one on each line.",
        discussion: """
            Shows the number, time of day (UTC), method, status, kind, duration, size of the response body, and URL of \
            each entry. The URL is shortened to fit a terminal. See 'beagle log --help' for filters.

            EXAMPLE
              beagle log list session.bglog
              beagle log list session.bglog 'status>=400 || error' --json
            """
    )

    @OptionGroup var source: LogSource

    @Argument(help: "Filter for entries, such as 'status>=400'.", transform: Recording.Filter.argument)
    var filter: Recording.Filter?

    func result(on console: Console) throws -> CommandResult {
        let recording = try source.recording(on: console)
        let entries = recording.entries(matching: filter)
        let columns = EntryColumns(of: recording.entries.count, width: Terminal.width(of: STDOUT_FILENO))
        var result = CommandResult(json: .array(entries.map { source.shown($0.entry).summary(number: $0.number) }))
        let lines = entries.map { columns.line($0.number, source.shown($0.entry), on: console) + "\n" }
        result.output = Data(lines.joined().utf8)
        if entries.isEmpty {
            result.note = filter == nil ? "\(source.path) has no entries" : "no entry matches the filter"
        }
        return result
    }
}

/// The columns of an entry's line.
struct EntryColumns {
    /// The number of digits of the highest number, or `nil` if entries aren't numbered.
    private let digits: Int?
    /// The number of columns of the terminal, or `nil` if the length of lines isn't limited.
    private let width: Int?

    init(of count: Int?, width: Int?) {
        digits = count.map { String($0).count }
        self.width = width
    }

    func line(_ number: Int?, _ entry: LogEntry, on console: Console) -> String {
        let status = entry.statusText
        let name = digits.map { (number.map(String.init) ?? "").leftPadded($0) }
        let parts = [
            name, entry.timeOfDay, entry.request.method.padded(6), status.padded(6), (entry.kind ?? "-").padded(9),
            entry.timings.total.shown.leftPadded(8), entry.sizeText.leftPadded(8),
        ].compactMap { $0?.printable }
        let used = parts.reduce(0) { $0 + $1.count + 2 }
        let room = width.map { max($0 - used, 20) } ?? .max
        let style: Style? = entry.failed || entry.statusCode >= 400 ? .red : entry.statusCode >= 300 ? .yellow : nil
        var words = parts
        if let style { words[words.count - 4] = console.styled(words[words.count - 4], style) }
        return words.joined(separator: "  ") + "  " + entry.urlText.printable.shortened(to: room)
    }
}

extension LogEntry {
    /// The status, or 0 without a response.
    var statusCode: Int { max(response?.status ?? 0, 0) }

    fileprivate var statusText: String {
        statusCode == 0 ? (isInterrupted ? "cut" : "failed") : "\(statusCode)\(failed ? "!" : "")"
    }

    /// The time of day, such as `08:15:30.123`.
    fileprivate var timeOfDay: String {
        String(Timestamp.text(of: started).dropFirst(11).prefix(12))
    }

    fileprivate var sizeText: String {
        guard let size = response?.body.size, size >= 0 else { return "-" }
        return byteCount(size)
    }

    /// Additional details that are shown after the URL.
    private var remarks: [String] {
        [
            operationName, attempt > 1 ? "attempt \(attempt)" : nil, isFromStore ? "stored" : nil,
            error.map { String($0.prefix { $0 != ":" && !$0.isNewline }.prefix(40)) },
        ].compactMap(\.self)
    }

    fileprivate var urlText: String {
        request.url + (remarks.isEmpty ? "" : "  (\(remarks.joined(separator: ", ")))")
    }

    /// Returns the entry without headers and bodies, for `--json`.
    func summary(number: Int?) -> JSONValue {
        var members: [String: JSONValue] = [
            "started": .string(Timestamp.text(of: started)),
            "method": .string(request.method), "url": .string(request.url), "status": .integer(Int64(statusCode)),
            "ms": .number(timings.total.milliseconds), "attempt": .integer(Int64(attempt)),
            "stored": .bool(isFromStore), "interrupted": .bool(isInterrupted),
            "redactions": .integer(Int64(redactions.count)),
        ]
        members["number"] = number.map { .integer(Int64($0)) }
        if !id.isEmpty { members["id"] = .string(id) }
        if let size = response?.body.size, size >= 0 { members["bytes"] = .integer(size) }
        members["cache"] = cacheStatus.map { .string($0) }
        members["kind"] = kind.map { .string($0) }
        members["operation"] = operationName.map { .string($0) }
        members["error"] = error.map { .string($0) }
        return .object(members)
    }
}
