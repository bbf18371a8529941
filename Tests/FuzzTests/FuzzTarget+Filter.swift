import BeagleNetHTTP
import BeagleNetReplay

extension FuzzTarget {
    /// The first line is a filter, the second a URL and the rest a body. A filter and its negation never agree, and the
    /// curl command of the entry has no invalid characters.
    static func fuzzFilter(_ text: String) {
        let lines = text.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        let (url, body) = (lines.dropFirst().first ?? "", lines.dropFirst(2).first ?? "")
        let entry = LogEntry(
            started: Date(timeIntervalSince1970: 0),
            request: LogEntry.Request(method: "GET", url: url, fields: [LogEntry.Field("X-A", url)]),
            response: LogEntry.Response(status: body.utf8.count, body: LogEntry.Body(.data(Data(body.utf8)))),
            error: body
        )
        _ = entry.redacted(by: Redactor())
        let command = entry.curlCommand()
        precondition(
            !command.utf8.contains(0) && !command.contains("\r"),
            "a command contains characters that no argument can contain"
        )
        guard let filter = try? Recording.Filter(lines[0]) else { return }
        // One level deeper than the filter, which may be at the limit.
        guard let opposite = try? Recording.Filter("!(\(lines[0]))") else { return }
        precondition(filter.matches(entry) != opposite.matches(entry), "a filter and its negation agree")
    }
}
