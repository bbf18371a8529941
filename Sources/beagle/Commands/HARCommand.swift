import ArgumentParser
import BeagleNetHTTP
import BeagleNetReplay

/// The `beagle har` command, for HTTP Archives of this library, browsers and proxies.
struct HARCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "har",
        abstract: "Validate or convert HTTP Archives.",
        subcommands: [Validate.self, Convert.self]
    )

    struct Validate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check archives and logs for errors.",
            discussion: """
                Writes a line for each file with the number of its entries, bodies, errors and hints. The first 1,000 \
                errors and hints of a file are written to standard error, with byte offset and JSON path. Files may be \
                compressed with gzip or zlib, or be zip archives from Playwright; offsets refer to the decompressed \
                text. If a file is malformed, the command exits with 101, or with 61 if it cannot be decompressed, and \
                counts everything before the error. In a log NAME.bglog, the command reports truncated records, \
                entries that did not fit, and bodies with missing or damaged files. Unless a file is malformed, errors \
                make the command fail only with --strict.

                EXAMPLE
                  beagle har validate session.har
                  beagle har validate --strict session.bglog
                  beagle har validate --strict --json *.har
                """
        )

        @Argument(help: "Archives or logs to check.")
        var files: [String]

        @Flag(name: .long, help: "Exit with 101 if there is any error; hints are not errors.")
        var strict = false

        @Flag(name: .long, help: "Write one JSON object to standard output, even on failure.")
        var json = false

        func validate() throws {
            if files.isEmpty { throw ValidationError("Name at least one file.") }
        }

        func run() async throws {
            let (console, start) = (Console(), ContinuousClock.now)
            var failure: Failure?
            var reports: [JSONValue] = []
            for file in files {
                let validator = HARReader.Validator(contentsOf: file)
                var summary: HARReader.Validator.Summary?
                var findings: [Recording.Warning] = []
                func take(_ finding: Recording.Warning) { if findings.count < 1_000 { findings.append(finding) } }
                do {
                    try reading { () throws(NetworkError) in
                        summary =
                            RequestLog.Reader.isLog(file)
                            ? try RequestLog.Reader(directory: file).check(take) : try validator.validate(take)
                    }
                    if strict, let summary, summary.errors > 0 { throw Failure(breaking: summary, in: file) }
                } catch {
                    let new = Failure(archive: error, file)
                    // With `--json`, there is a single object with the first failure.
                    if !json { console.note(new) }
                    failure = failure ?? new
                }
                // For a malformed archive, this counts everything before the error.
                let told = summary ?? validator.summary
                reports.append(told.json(file, findings))
                guard !json else { continue }
                for finding in findings { console.note("\(finding.severity): \(finding)".printable) }
                console.line("\(file): \(told.words)".printable)
            }
            try console.end(failure, ["files": .array(reports)], json: json, since: start)
        }
    }

    struct Convert: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Convert between logs and HTTP Archives, compressed or not.",
            discussion: """
                The extension of the output selects its format: .gz (gzip), .zhar (zlib, as mitmproxy uses it) or \
                .bglog (a log); any other extension selects an uncompressed archive. Entries are sorted by time and \
                copied byte for byte, except bodies that --attach or --embed moves. A log has only entries, without \
                secrets, and its directory must not exist yet. The output appears when it is complete, and is readable \
                by its owner only.

                EXAMPLE
                  beagle har convert session.bglog -o session.zhar
                  beagle har convert session.zhar -o session.har.gz
                  beagle har convert session.har.gz -o imported.bglog
                  beagle har convert session.bglog -o page.har --attach
                """
        )

        @Argument(help: "Log directory or archive to convert, including a .zip from Playwright.")
        var file: String

        @Option(name: .shortAndLong, help: ArgumentHelp("Archive or log to write.", valueName: "file"))
        var output: String

        @Flag(name: .long, help: "Write response bodies to separate files, in NAME_files next to the archive.")
        var attach = false

        @Flag(name: .long, help: "Embed bodies from separate files in the archive (the default).")
        var embed = false

        @Flag(name: .long, help: "Write one JSON object to standard output, even on failure.")
        var json = false

        func validate() throws {
            if attach && embed { throw ValidationError("'--attach' and '--embed' cannot be used together.") }
            if attach || embed, LogImport.isLog(named: output) {
                throw ValidationError("'--attach' and '--embed' require an archive, but '\(output)' is a log.")
            }
        }

        func run() async throws {
            let (console, start) = (Console(), ContinuousClock.now)
            do {
                let (file, output, bodies) = (file, output, attach ? HARWriter.Bodies.attached : .embedded)
                let (entries, warnings) = try await Interrupt.cancelling {
                    try Self.convert(file, to: output, bodies)
                }
                for warning in warnings where !json { console.note("error: \(warning)".printable) }
                if !json { console.note("\(output): \(counted(entries, "entry", "entries"))") }
                let result: [String: JSONValue] = [
                    "file": .string(output), "entries": .integer(Int64(entries)),
                    "warnings": .array(warnings.map(\.json)),
                ]
                try console.end(nil, result, json: json, since: start)
            } catch let code as ExitCode {
                throw code
            } catch {
                let failure = Failure(archive: error, file)
                if !json { console.note(failure) }
                try console.end(failure, [:], json: json, since: start)
            }
        }

        private static func convert(
            _ file: String,
            to output: String,
            _ bodies: HARWriter.Bodies
        ) throws -> (entries: Int, warnings: [Recording.Warning]) {
            if LogImport.isLog(named: output) { return try log(file, to: output) }
            let writer = try HARWriter(to: output, bodies: bodies)
            var count = 0
            if RequestLog.Reader.isLog(file) {
                let entries = try reading { () throws(NetworkError) in try RequestLog.Reader(directory: file).entries()
                }
                for entry in entries {
                    try Task.checkCancellation()
                    try writer.write(HARWriter.Entry(entry, directory: file))
                    count += 1
                }
                try writer.finish()
                return (count, entries.warnings + writer.warnings)
            }
            let reader = HARReader(contentsOf: file)
            while let entry = try reading({ () throws(NetworkError) in try reader.next() }) {
                try Task.checkCancellation()
                try writer.write(entry)
                count += 1
            }
            try writer.finish(members: reader.members)
            return (count, reader.warnings + writer.warnings)
        }

        /// Writes the entries of a log or archive to a new log.
        private static func log(
            _ file: String,
            to output: String
        ) throws -> (entries: Int, warnings: [Recording.Warning]) {
            var (count, warnings): (Int, [Recording.Warning]) = (0, [])
            let log = try LogImport(to: output)
            if RequestLog.Reader.isLog(file) {
                let entries = try reading { () throws(NetworkError) in try RequestLog.Reader(directory: file).entries()
                }
                for entry in entries {
                    try Task.checkCancellation()
                    log.write(entry, of: Recording([], directory: file))
                    count += 1
                }
                warnings = entries.warnings
            } else {
                let reader = HARReader(contentsOf: file)
                while let entry = try reading({ () throws(NetworkError) in try reader.next() }) {
                    try Task.checkCancellation()
                    log.write(entry.entry, of: entry.files)
                    count += 1
                }
                warnings = reader.warnings
            }
            try log.finish()
            return (count, warnings + log.warnings)
        }
    }
}

extension HARReader.Validator.Summary {
    /// The summary as text.
    fileprivate var words: String {
        [
            counted(entries, "entry", "entries"), "\(counted(bodies, "body", "bodies")) of \(byteCount(bodyBytes))",
            counted(errors, "error"), counted(hints, "hint"),
        ].joined(separator: ", ")
    }

    fileprivate func json(_ file: String, _ findings: [Recording.Warning]) -> JSONValue {
        [
            "file": .string(file), "entries": .integer(Int64(entries)), "bodies": .integer(Int64(bodies)),
            "bodyBytes": .integer(bodyBytes), "errors": .integer(Int64(errors)), "hints": .integer(Int64(hints)),
            "warnings": .array(findings.map(\.json)),
        ]
    }
}

extension Recording.Warning {
    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = ["severity": .string(severity.rawValue), "reason": .string(reason)]
        if let offset { members["offset"] = .integer(Int64(offset)) }
        if !path.isEmpty { members["path"] = .string(path) }
        return .object(members)
    }
}

extension Failure {
    /// Creates the failure for an archive that can't be read.
    fileprivate init(archive error: any Error, _ file: String) {
        self.init(wrapping: error)
        guard let error = error as? NetworkError else { return }
        details["file"] = .string(file)
        guard let place = error.underlying as? Recording.Warning else { return }
        details["offset"] = place.offset.map { .integer(Int64($0)) }
        details["path"] = .string(place.path)
    }

    /// Creates the failure for an archive or log with errors.
    fileprivate init(breaking summary: HARReader.Validator.Summary, in file: String) {
        let what = RequestLog.Reader.isLog(file) ? "has missing or damaged parts" : "does not conform to HAR 1.2"
        let message = "\(file) \(what): \(summary.words)"
        self.init(exit: ExitCode.invalidContent, code: "not_valid", phase: .decode, message)
        details["file"] = .string(file)
    }
}

extension Console {
    /// Ends a command for archives with the JSON object for `--json` and the exit code.
    fileprivate func end(
        _ failure: Failure?,
        _ result: [String: JSONValue],
        json: Bool,
        since start: ContinuousClock.Instant
    ) throws {
        let timing: JSONValue = ["totalMs": .number(start.duration(to: .now).milliseconds)]
        guard var failure else {
            if json { line("\(CommandResult(json: .object(result)).envelope(timing: timing))") }
            return
        }
        failure.details.merge(result) { own, _ in own }
        if json { line("\(failure.envelope(timing: timing))") }
        throw ExitCode(failure.exit)
    }
}
