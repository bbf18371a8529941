import BeagleNetHTTP
import Foundation
import Testing

@testable import BeagleNetReplay

/// Archives validated against a JSON schema of HAR 1.2 by PyPI's jsonschema.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: PythonPeers.hasJSONSchema, "jsonschema is not installed: scripts/setup.sh --peers")
)
struct HARSchemaTests {
    private static let schema = "\(RealArchiveTests.folder)/har-1.2.schema.json"
    private static let program = """
        import json, jsonschema, sys
        schema = json.load(open(sys.argv[1], encoding="utf-8"))
        kind = jsonschema.Draft202012Validator
        kind.check_schema(schema)
        for path in sys.argv[2:]:
            errors = kind(schema, format_checker=kind.FORMAT_CHECKER).iter_errors(json.load(open(path, encoding="utf-8")))
            print(*(error.json_path for error in errors))
        """

    /// The paths in each archive that violate the schema.
    private func faults(_ paths: [String]) async throws -> [[String]] {
        let run = try await PythonPeers.run("python3", ["-c", Self.program, Self.schema] + paths)
        try #require(run.status == 0, "\(run.output)")
        return run.output.split(separator: "\n", omittingEmptySubsequences: false).prefix(paths.count).map { line in
            line.split(separator: " ").map(String.init)
        }
    }

    @Test func ourArchivesAreValid() async throws {
        try await EveryKind.withLog { log in
            let (embedded, attached) = ("\(log)-embedded.har", "\(log)-attached.har")
            try EveryKind.archive(of: log, to: embedded)
            try EveryKind.archive(of: log, to: attached, bodies: .attached)
            let entries = try Recording(contentsOf: embedded).entries
            for (kind, isOfIt) in EveryKind.kinds { #expect(entries.contains(where: isOfIt), "\(kind)") }
            #expect(try await faults([embedded, attached]) == [[], []])
        }
    }

    /// A changed member of an entry, its value, and the path that the schema reports.
    static let broken = [
        ("time", "", "$.log.entries[0]"), ("time", "-1", "$.log.entries[0].time"),
        ("startedDateTime", "1795335330", "$.log.entries[0].startedDateTime"),
        ("startedDateTime", #""2026-11-22""#, "$.log.entries[0].startedDateTime"),
        ("serverIPAddress", #""[::1]""#, "$.log.entries[0].serverIPAddress"),
        ("connection", "12", "$.log.entries[0].connection"),
        ("cache", "", "$.log.entries[0]"), ("cache", #"{"afterRequest":{}}"#, "$.log.entries[0].cache.afterRequest"),
        ("timings", #"{"send":0,"wait":-1,"receive":0}"#, "$.log.entries[0].timings.wait"),
        ("request.url", #""/a""#, "$.log.entries[0].request.url"),
        ("request.url", #""http://h/#a""#, "$.log.entries[0].request.url"),
        ("request.headers", #"[{"name":"A"}]"#, "$.log.entries[0].request.headers[0]"),
        ("request.settingEncodeUrl", "true", "$.log.entries[0].request"),
        ("request.postData", #"{"mimeType":""}"#, "$.log.entries[0].request.postData"),
        ("response.status", "-1", "$.log.entries[0].response.status"),
        ("response.redirectURL", "null", "$.log.entries[0].response.redirectURL"),
        ("response.headersSize", "1.5", "$.log.entries[0].response.headersSize"),
        ("response.content", "{}", "$.log.entries[0].response.content"),
        (
            "response.cookies", #"[{"name":"a","value":"","expires":"4294967295"}]"#,
            "$.log.entries[0].response.cookies[0].expires"
        ),
    ]

    @Test func schemaAndValidatorBothFindViolations() async throws {
        try await withFolder { folder in
            let changes = [[:]] + Self.broken.map { [$0.0: $0.1] }
            let paths = changes.indices.map { "\(folder)/\($0).har" }
            for (path, change) in zip(paths, changes) { try Data(archive(change).utf8).write(to: URL(filePath: path)) }
            let found = try await faults(paths)
            #expect(found.first == [])
            for (index, row) in Self.broken.enumerated() {
                #expect(found[index + 1].contains(row.2), "\(row)")
                let validator = HARReader.Validator(contentsOf: paths[index + 1])
                try validator.validate { _ in }
                #expect(validator.summary.errors + validator.summary.hints > 0, "\(row)")
            }
        }
    }

    @Test(arguments: ["chromium", "playwright", "mitmproxy"])
    func validatorFindsAsManyErrorsAsTheSchema(_ name: String) async throws {
        let path = "\(RealArchiveTests.folder)/\(name).har"
        let validator = HARReader.Validator(contentsOf: path)
        try validator.validate { _ in }
        #expect(try await faults([path]).first?.count == validator.summary.errors)
    }
}
