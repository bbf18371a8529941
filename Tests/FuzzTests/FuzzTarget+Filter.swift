import BeagleNetHTTP
import BeagleNetReplay

extension FuzzTarget {
    /// The first line is a filter, what follows a URL and a body. What is not wanted is wanted by its opposite, and a command
    /// of curl made of it has no line that it did not have.
    static func fuzzFilter(_ text: String) {
        let lines = text.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        let (url, body) = (lines.dropFirst().first ?? "", lines.dropFirst(2).first ?? "")
        let entry = LogEntry(
            started: Date(timeIntervalSince1970: 0),
            request: LoggedRequest(method: "GET", url: url, fields: [LoggedField("X-A", url)]),
            response: LoggedResponse(status: body.utf8.count, body: LoggedBody(.data(Data(body.utf8)))),
            error: body
        )
        _ = entry.redacted(by: Redactor())
        let command = entry.curlCommand()
        precondition(!command.utf8.contains(0) && !command.contains("\r"), "a command holds what no argument can")
        guard let filter = try? EntryFilter(lines[0]) else { return }
        // Deeper by one than what was read, which may be at the limit.
        guard let opposite = try? EntryFilter("!(\(lines[0]))") else { return }
        precondition(filter.matches(entry) != opposite.matches(entry), "a filter and its opposite agree")
    }
}
