import ArgumentParser

/// The `beagle log` command, whose subcommands inspect a log or an HTTP Archive.
struct LogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Inspect a log or an HTTP Archive.",
        discussion: """
            PATH is a log (a directory NAME.bglog) or an HTTP Archive from any tool (.har, .har.gz or .zhar). Entries \
            are numbered from 1 in the order of their start times. Secrets in an archive are redacted unless \
            --show-secrets is given.

            FILTERS
              type==submitForm && host~"*.example.com" && status>=400 && time>500ms

              type, method, host, path, url, error, operation, id, header(Name), body
                    == and != compare the whole text; ~ searches for a substring, or matches the
                    whole text with a pattern that contains * or ?
              status, time, size
                    == != > >= < <=; a status can be 4xx, a time 500ms or 1.5s, a size 10k
                    or 2M
              error, !header(Cookie)
                    a field alone is true if it has a value; ! negates it
              && || ! ( )
                    adjacent terms are combined with &&; mitmproxy's ~u ~d ~m ~c ~t ~b ~e are
                    supported

            EXAMPLE
              beagle log list session.bglog 'status>=400'
              beagle log report session.bglog -o report.html
            """,
        subcommands: [
            LogListCommand.self, LogShowCommand.self, LogTailCommand.self, LogStatsCommand.self, LogReportCommand.self,
            LogExportCommand.self, LogCurlCommand.self, LogGenTestCommand.self, LogScrubCommand.self,
        ]
    )
}
