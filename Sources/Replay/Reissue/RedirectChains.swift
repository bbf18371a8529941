/// Which entries follow a redirect of which.
struct RedirectChains {
    /// Entries that follow one, by the id of what redirected.
    private let followers: [String: LogEntry]
    private let ids: Set<String>

    init(_ entries: [LogEntry]) {
        let hops = entries.compactMap { entry in
            entry.redirects > 0 ? entry.parent.map { ($0, entry) } : nil
        }
        followers = Dictionary(hops) { first, _ in first }
        ids = Set(entries.map(\.id))
    }

    /// Whether it follows a redirect of the recording.
    func isHop(_ entry: LogEntry) -> Bool {
        entry.redirects > 0 && entry.parent.map(ids.contains) ?? false
    }

    /// The entry at the end of the redirects that begin with this one.
    func end(of entry: LogEntry) -> LogEntry {
        var (entry, hops) = (entry, 0)
        // A recording can say anything, also that entries follow each other.
        while !entry.id.isEmpty, let next = followers[entry.id], hops < followers.count {
            entry = next
            hops += 1
        }
        return entry
    }
}
