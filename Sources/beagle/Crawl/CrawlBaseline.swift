import ArgumentParser
import BeagleNetHTTP
import Foundation

/// Findings that a later crawl doesn't report again, as JSON Lines.
struct CrawlBaseline: Sendable {
    private let fingerprints: Set<CrawlFingerprint>

    /// The maximum size of a file, in bytes.
    static let maxBytes = 64 << 20

    init(_ findings: [CrawlFinding], on origin: Origin) {
        fingerprints = Set(findings.map { CrawlFingerprint($0, on: origin) })
    }

    /// Reads a file.
    ///
    /// - Throws: `Failure` with the exit code 26 if it can't be read, or 101 if a line isn't a fingerprint.
    init(contentsOf path: String) throws {
        let contents: Data
        do {
            contents = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
                .wholeContents(upTo: Self.maxBytes, of: path)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw NetworkError.unreadable(path, advice: "create it with --write-baseline", underlying: error)
        }
        var fingerprints: Set<CrawlFingerprint> = []
        for (index, line) in contents.split(separator: UInt8(ascii: "\n")).enumerated() {
            guard let fingerprint = try Self.fingerprint(Data(line), index + 1, path) else {
                throw Self.malformed(path, index + 1, "rule, screen, pointer or target is missing")
            }
            fingerprints.insert(fingerprint)
        }
        self.fingerprints = fingerprints
    }

    private static func fingerprint(_ line: Data, _ number: Int, _ path: String) throws -> CrawlFingerprint? {
        do throws(NetworkError) {
            return CrawlFingerprint(try JSONValue(parsing: line))
        } catch {
            throw malformed(path, number, error.message)
        }
    }

    private static func malformed(_ path: String, _ line: Int, _ reason: String) -> Failure {
        Failure(
            exit: ExitCode.invalidContent,
            code: "bad_baseline",
            phase: .build,
            "entry \(line) of the baseline \(path) is invalid: \(reason)",
            advice: "create it again with --write-baseline"
        )
    }

    /// The number of findings.
    var count: Int { fingerprints.count }

    /// Whether the baseline has a finding.
    func contains(_ finding: CrawlFinding, on origin: Origin) -> Bool {
        fingerprints.contains(CrawlFingerprint(finding, on: origin))
    }

    /// The lines of the file, sorted so that changes are easy to compare.
    var data: Data {
        Data(fingerprints.map { "\($0.json)\n" }.sorted().joined().utf8)
    }

    /// Writes the file atomically.
    func write(to path: String) throws(NetworkError) {
        try FileSink.write(data, to: path)
    }
}
