/// The chains of redirects in a recording.
struct RedirectChains {
    /// The entries that follow a redirect, by the id of the redirecting entry.
    private let followers: [String: LogEntry]
    private let ids: Set<String>

    init(_ entries: [LogEntry]) {
        let hops = entries.compactMap { entry in
            entry.redirects > 0 ? entry.parent.map { ($0, entry) } : nil
        }
        followers = Dictionary(hops) { first, _ in first }
        ids = Set(entries.map(\.id))
    }

    /// Returns whether an entry follows a redirect of the recording.
    func isHop(_ entry: LogEntry) -> Bool {
        entry.redirects > 0 && entry.parent.map(ids.contains) ?? false
    }

    /// Returns the last entry in the chain of redirects that begins with an entry.
    func end(of entry: LogEntry) -> LogEntry {
        var (entry, hops) = (entry, 0)
        // Limits the number of steps, because an archive may contain cycles.
        while !entry.id.isEmpty, let next = followers[entry.id], hops < followers.count {
            entry = next
            hops += 1
        }
        return entry
    }
}
