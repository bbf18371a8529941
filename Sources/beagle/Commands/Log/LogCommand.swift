import ArgumentParser

/// `beagle log`: what a log or an HTTP Archive holds.
struct LogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Look into a log or an HTTP Archive.",
        discussion: """
            PATH is a log, which is a directory NAME.bglog, or an HTTP Archive of any tool: .har, .har.gz, .zhar. Entries \
            have numbers from 1, by the time at which they began. What is secret in an archive is not shown; --show-secrets \
            shows it.

            FILTERS
              type==submitForm && host~"*.example.com" && status>=400 && time>500ms && body~"token"

              type, method, host, path, url, error, operation, id, header(Name), body
                    == and != compare the whole text; ~ looks for a part of it, or with * and ? for all of it
              status, time, size
                    == != > >= < <=; status also as 4xx, time as 500ms or 1.5s, size as 10k or 2M
              error, !header(Cookie)
                    whether there is something
              && || ! ( )
                    terms beside each other must all be true; mitmproxy's ~u ~d ~m ~c ~t ~b ~e are understood

            EXAMPLE
              beagle log list s.bglog 'status>=400'
              beagle log report s.har -o report.html
            """,
        subcommands: [
            LogListCommand.self, LogShowCommand.self, LogTailCommand.self, LogStatsCommand.self, LogReportCommand.self,
            LogExportCommand.self, LogCurlCommand.self, LogGenTestCommand.self, LogScrubCommand.self,
        ]
    )
}
